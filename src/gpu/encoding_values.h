#pragma once
/// What an encoding states, as the GPU's kernels want it: tables over positions, distances and pairs of places instead
/// of values for every token; those only where positions come by rule, or pairs of places are not the same in all
/// sequences.
#include <vector>

#include "model/decoder.h"
#include "positional/fused_values.h"

namespace lengthwise {

/// Float tensors on the decoder's device, with their autograd history. Undefined or empty: not used.
struct EncodingValues {
  bool by_token = false;  ///< what is said of positions below is said of the tokens of the batch, in their order
  at::Tensor addition;    ///< [position, width]
  /// Rotations [position, pair], factors [position, head], tables [head, distance], biases of pairs [1 or sequence,
  /// head, place, place].
  FusedValues layers;
  std::vector<std::optional<KeyDecay>> decays;  ///< by layer

  bool addition_learns() const;
  bool scales_learn() const;  ///< factors of queries, of some layer
  bool pairs_learn() const;   ///< biases of pairs, of some layer
  bool learns() const;        ///< anything
};

/// Whether the values of a batch are those of its tokens; `from_zero`: all sequences begin at position 0.
bool values_by_token(const Decoder& decoder, bool from_zero);

/// For the positions 0..positions-1 and the distances 0..distances-1. All that the encoding states must be fused.
EncodingValues encoding_values(const Decoder& decoder, int64_t positions, int64_t distances,
                               const LayerNoise& noise = nullptr);

/// For the tokens of a batch (DecoderPasses::token_context).
EncodingValues token_values(const Decoder& decoder, EncodingContext context, const LayerNoise& noise = nullptr);

/// Gradients of the values that learn; undefined where one does not.
struct EncodingGradients {
  explicit EncodingGradients(const EncodingValues& values)
      : tables(values.layers.entries.size()),
        scales(values.layers.entries.size()),
        dense(values.layers.entries.size()),
        constants(values.decays.size()) {}

  at::Tensor addition;
  std::vector<at::Tensor> tables, scales, dense;  ///< by entry
  std::vector<at::Tensor> constants;              ///< of decays, by layer
};

/// Writes the gradients of the encoding's parameters. Runs in the calling thread, so that it can be captured.
void encoding_backward(Decoder& decoder, const EncodingValues& values, const EncodingGradients& gradients);

}  // namespace lengthwise
