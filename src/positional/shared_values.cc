#include "positional/shared_values.h"

namespace lengthwise {

const std::vector<at::Tensor>& SharedValues::of(const void* owner, const at::Tensor& positions,
                                                const std::function<std::vector<at::Tensor>()>& make) {
  for (const Kept& kept : kept_) {
    // The tensor is held, so that no other can have its address.
    if (kept.owner == owner && kept.positions.is_same(positions)) return kept.by_layer;
  }
  return kept_.emplace_back(Kept{owner, positions, make()}).by_layer;
}

}  // namespace lengthwise
