#include "arena/mirror.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>

namespace lengthwise {

Mirror::Mirror(const Parameters& parameters)
    : parameters_(parameters), values_(at::empty(parameters.values().sizes(), at::kBFloat16)) {}

void Mirror::refresh() {
  at::NoGradGuard no_grad;
  values_.copy_(parameters_.values());
}

at::Tensor Mirror::of(const Parameter& parameter) const {
  const int64_t begin = parameter.value.storage_offset() - parameters_.values().storage_offset();
  return values_.narrow(0, begin, parameter.numel()).view(parameter.shape);
}

}  // namespace lengthwise
