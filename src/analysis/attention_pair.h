#pragma once
/// The attention of two models on one sequence, layer by layer and head by head against each other, with memory bounded
/// at any length: what does not fit at once is passed again for other layers, or for other queries.
#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "analysis/divergence.h"
#include "model/decoder.h"

namespace lengthwise {

/// Means over queries, [divergence][layer] of [head of a, head of b] double on the CPU. Both decoders have the same
/// number of layers. `most_held` bounds the logarithms held of each model.
std::vector<std::vector<at::Tensor>> compare_attention(const Decoder& a, const Decoder& b,
                                                       const std::vector<int64_t>& tokens,
                                                       const std::vector<Divergence>& divergences,
                                                       int64_t most_held = int64_t{1} << 24);

}  // namespace lengthwise
