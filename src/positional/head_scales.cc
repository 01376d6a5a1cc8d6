#include "positional/head_scales.h"

#include <ATen/ATen.h>

namespace lengthwise {

at::Tensor HeadScales::factors(int64_t layer, const at::Tensor& positions, const EncodingContext& context) const {
  const auto of_all_layers = [&] {
    std::vector<int64_t> sizes{scales_->shape[0]};
    sizes.insert(sizes.end(), positions.dim(), 1);
    sizes.push_back(scales_->shape[1]);
    const at::Tensor at_places = by_position(positions, scales_->value.scalar_type());
    return (at_places.unsqueeze(-1) * scales_->value.view(sizes)).unbind(0);
  };
  return context.shared->of(this, positions, of_all_layers)[static_cast<size_t>(layer)];
}

}  // namespace lengthwise
