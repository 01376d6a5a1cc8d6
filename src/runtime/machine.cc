#include "runtime/machine.h"

#include <ATen/Parallel.h>
#include <torch/version.h>

#include "core/version.h"

namespace lengthwise {

std::vector<Fact> machine_facts() {
  return {{"lengthwise", kVersion}, {"torch", TORCH_VERSION}, {"threads", std::to_string(at::get_num_threads())}};
}

}  // namespace lengthwise
