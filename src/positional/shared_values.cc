#include "positional/shared_values.h"

#include <algorithm>

namespace lengthwise {

const std::vector<at::Tensor>& SharedValues::of(const void* owner, const at::Tensor& positions,
                                                const std::function<std::vector<at::Tensor>()>& make) {
  const auto its = std::find_if(kept_.begin(), kept_.end(), [&](const Kept& kept) { return kept.owner == owner; });
  if (its == kept_.end()) return kept_.emplace_back(Kept{owner, positions, make()}).by_layer;
  // The tensor is held, so that no other can have its address. Of several positions the last are kept: where queries
  // are asked about block by block, all of them would add up.
  if (!its->positions.is_same(positions)) *its = Kept{owner, positions, make()};
  return its->by_layer;
}

}  // namespace lengthwise
