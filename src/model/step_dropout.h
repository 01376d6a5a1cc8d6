#pragma once
/// What is random in a training step besides the order of examples: dropout, and what encodings draw.
#include <cstdint>
#include <optional>

#include "kernels/dropout.h"
#include "kernels/step_noise.h"

namespace lengthwise {

/// The places where dropout acts, each with masks of its own. A recurrent network has those of the embedding, of a
/// layer's output (ff_out) and of the head (final).
enum class DropoutPlace : uint64_t { embedding, weights, attention_out, ff_hidden, ff_out, final, encoding };

/// Tells the random numbers of a place in a layer from all others of a step.
constexpr uint64_t place_number(DropoutPlace place, int64_t layer) {
  return 64 * static_cast<uint64_t>(layer) + static_cast<uint64_t>(place) + 1;
}

/// A mask [row, column] of 0 and 1 / (1 - probability) of floats where the seed [1] int64 lies, `place` being
/// place_number: what StepNoise::mask gives.
using MakeMask = at::Tensor (*)(double probability, const at::Tensor& seed, uint64_t place, int64_t rows,
                                int64_t columns);

/// The dropout of one training step; inactive when the probability is 0 or outside training.
struct StepDropout {
  double probability = 0;
  std::optional<uint64_t> seed;  ///< none: outside training
  double done = 0;               ///< share of the training's steps that lie behind this one
  at::Tensor written_seed{};     ///< [1] int64, instead of `seed`: for steps that are captured and replayed
  MakeMask make_mask = nullptr;  ///< makes the masks of a written seed; nullptr: by tensor operations

  bool active() const { return probability > 0; }
  Dropout at(DropoutPlace place, int64_t layer = 0) const;
  /// dropout_mask of a place, whichever seed there is.
  at::Tensor mask(DropoutPlace place, int64_t layer, int64_t rows, int64_t columns,
                  const at::TensorOptions& options) const;
  /// What the encoding draws for a layer.
  StepNoise noise(int64_t layer) const;
};

}  // namespace lengthwise
