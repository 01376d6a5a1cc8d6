#include "eval/device_choice.h"

#include "core/error.h"

namespace lengthwise {

DeviceChoice choose_device(const std::string& asked, const std::string& here, const std::string& refusal) {
  if (here != "cuda" || refusal.empty()) return {here, ""};
  if (asked == "cuda") fail("--device cuda: {}; --device cpu runs it", refusal);
  return {"cpu", "on the CPU, not the GPU: " + refusal};
}

}  // namespace lengthwise
