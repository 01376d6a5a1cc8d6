#pragma once
/// What an encoding states, as the GPU's kernels want it: tables over positions and distances instead of values for
/// every token.
#include <vector>

#include "model/decoder.h"

namespace lengthwise {

/// Float tensors on the decoder's device, with their autograd history. Undefined or empty: not used.
struct EncodingValues {
  at::Tensor addition;             ///< [position, width]
  at::Tensor cos, sin;             ///< [position, pair]
  std::vector<at::Tensor> tables;  ///< [head, distance]; one for all layers, or one for each

  bool addition_learns() const;
  bool tables_learn() const;

  /// [head, distance] of a layer, or nullptr.
  const float* table(int64_t layer) const;
};

/// For the positions 0..positions-1 and the distances 0..distances-1. The encoding must be fused().
EncodingValues encoding_values(const Decoder& decoder, int64_t positions, int64_t distances);

/// Writes the gradients of the encoding's parameters from those of the values that learn: `d_addition` like the
/// addition, `d_tables` like the tables. Runs in the calling thread, so that it can be captured.
void encoding_backward(Decoder& decoder, const EncodingValues& values, const at::Tensor& d_addition,
                       const std::vector<at::Tensor>& d_tables);

}  // namespace lengthwise
