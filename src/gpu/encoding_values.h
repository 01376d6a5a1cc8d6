#pragma once
/// What an encoding states, as the GPU's kernels want it: tables over positions and distances instead of values for
/// every token.
#include <vector>

#include "model/decoder.h"
#include "positional/fused_values.h"

namespace lengthwise {

/// Float tensors on the decoder's device, with their autograd history. Undefined or empty: not used.
struct EncodingValues {
  at::Tensor addition;  ///< [position, width]
  FusedValues layers;   ///< rotations [position, pair], factors [position, head], tables [head, distance]

  bool addition_learns() const;
  bool scales_learn() const;  ///< factors of queries, of some layer
  bool learns() const;        ///< anything
};

/// For the positions 0..positions-1 and the distances 0..distances-1. All that the encoding states must be fused.
EncodingValues encoding_values(const Decoder& decoder, int64_t positions, int64_t distances,
                               const LayerNoise& noise = nullptr);

/// Writes the gradients of the encoding's parameters from those of the values that learn: `d_addition` like the
/// addition, `d_tables` and `d_scales` like the tables and the factors of queries of the entries, undefined where one
/// does not learn. Runs in the calling thread, so that it can be captured.
void encoding_backward(Decoder& decoder, const EncodingValues& values, const at::Tensor& d_addition,
                       const std::vector<at::Tensor>& d_tables, const std::vector<at::Tensor>& d_scales);

}  // namespace lengthwise
