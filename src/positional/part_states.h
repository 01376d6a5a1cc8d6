#pragma once
/// The states that several encodings carry from layer to layer, side by side, for those that are made of others.
#include <functional>
#include <memory>
#include <vector>

#include "positional/encoding.h"

namespace lengthwise {

using EncodingParts = std::vector<std::unique_ptr<Encoding>>;

/// How many numbers they are in all.
int64_t side_by_side(const EncodingParts& parts);

/// [token, number], or undefined where there is none.
at::Tensor first_states(const EncodingParts& parts, const EncodingContext& context);

/// The context with the states of one part alone.
EncodingContext with_state_of(const EncodingParts& parts, size_t part, EncodingContext context);

/// All states [..., number] with what `next` makes of those of each part that has some.
at::Tensor each_state(const EncodingParts& parts, const at::Tensor& states,
                      const std::function<at::Tensor(size_t part, const at::Tensor& its)>& next);

}  // namespace lengthwise
