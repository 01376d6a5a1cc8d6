#pragma once
/// What a positional encoding states. Attention applies the values and never learns the encoding's name.
///
///     x_t  = E[token_t] + embedding_addition(position_t)
///     S_ij = scale <R(position_i) q_i, R(position_j) k_j> + terms(position_i - position_j, ...)
///
/// An encoding overrides only what it uses. Positions come with the batch; no encoding makes its own. Values are built
/// with ordinary differentiable tensor operations, so that an encoding's own parameters learn through autograd whatever
/// kernel applies the values.
///
/// Adding an encoding: one file with a class and a `make_...` function, and one line in registry.cc. Help texts, the
/// table of `lengthwise encodings` and the property tests follow.
#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "arena/parameters.h"
#include "kernels/plain_attention.h"
#include "kernels/step_noise.h"

namespace lengthwise {

/// Options of all encodings; each reads its own.
struct EncodingConfig {
  double rotary_fraction = 0.25;
  double rotary_base = 10000;
  int64_t t5_buckets = 32;
  int64_t t5_max_distance = 128;
  int64_t max_positions = 2048;

  template <class Visitor>
  void visit(Visitor&& field) {
    field("rotary-fraction", rotary_fraction, "share of a head that RoPE rotates; the paper's code uses 0.25");
    field("rotary-base", rotary_base, "base of RoPE's geometric frequencies");
    field("t5-buckets", t5_buckets, "buckets of the T5 relative bias");
    field("t5-max-distance", t5_max_distance, "distance from which the T5 bias has one bucket");
    field("max-positions", max_positions, "rows of the learned position table; longer sequences are refused");
  }
};

/// The model an encoding serves.
struct EncodingShape {
  int64_t layers = 1;
  int64_t heads = 1;
  int64_t head_dim = 1;
  int64_t width = 1;
  at::ScalarType type = at::kFloat;
  at::Device device = at::kCPU;  ///< where its parameters are and its values are wanted
};

struct EncodingInfo {
  std::string name;
  std::string formula;                ///< one line
  std::string paper;                  ///< authors, year, arXiv number
  std::string learned;                ///< which parameters it learns, or "none"
  bool translation_invariant = true;  ///< adding a constant to every position changes nothing
  bool absolute = false;              ///< uses the positions themselves: random offsets in training make sense
};

/// Turns the pairs (2c, 2c+1) of the first 2 * pair dims of queries and keys. Undefined: no rotation.
struct Rotation {
  at::Tensor cos, sin;  ///< [token, pair]
};

/// On a GPU whole steps are captured and replayed, and with them what these functions do. That needs values that are
/// made where they are wanted, from tensors that are there already; one that copies from the host when it is asked is
/// run piece by piece instead, which is slower. Random numbers come from StepNoise alone: any others would be drawn
/// once and replayed.
class Encoding {
 public:
  virtual ~Encoding() = default;

  virtual const EncodingInfo& info() const = 0;

  /// [token, width] for positions [token] int64, or undefined.
  virtual at::Tensor embedding_addition(const at::Tensor& positions) const;

  virtual Rotation rotation(const at::Tensor& positions) const;

  /// Bias table or relative keys for the distances 0..distances-1. Asked for once per layer if `per_layer()`, otherwise
  /// once for all layers. A layer may state nothing where another one does. `noise`: what may be drawn in training.
  virtual ScoreTerms score_terms(int64_t distances, int64_t layer, const StepNoise& noise) const;

  /// A bias that is not a function of distance: [batch, head or 1, query, key] for positions [batch, query] and
  /// [batch, key], or undefined.
  virtual at::Tensor dense_bias(const at::Tensor& query_positions, const at::Tensor& key_positions,
                                int64_t layer) const;

  /// Whether score_terms and dense_bias differ from layer to layer.
  virtual bool per_layer() const { return false; }

  /// Whether score_terms draws from its `noise`: then it is asked anew in every training step. What does not, and does
  /// not learn, is asked once.
  virtual bool random() const { return false; }

  /// Whether the fused kernels can apply all it states: no relative keys and no dense bias.
  virtual bool fused() const { return true; }

  /// Positions must be below this, if set.
  virtual std::optional<int64_t> position_limit() const { return std::nullopt; }
};

/// Makes an encoding and adds its parameters.
using MakeEncoding = std::unique_ptr<Encoding> (*)(const EncodingConfig&, const EncodingShape&, Parameters&);

/// 10000^(-2j/width), j = 0..width/2-1, in double: the frequencies that sinusoids and rotations share.
at::Tensor geometric_frequencies(int64_t width, double base, at::Device device = at::kCPU);

/// [.., width]: sines of position * frequency in the first half, cosines in the second. In double.
at::Tensor sinusoids(const at::Tensor& positions, int64_t width);

}  // namespace lengthwise
