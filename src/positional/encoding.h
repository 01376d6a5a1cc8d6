#pragma once
/// What a positional encoding states. Attention applies the values and never learns the encoding's name.
///
///     x_t  = E[token_t] + embedding_addition(position_t)
///     S_ij = scale factor_i <Q(position_i) q_i, K(position_j) k_j> + terms(position_i - position_j, ...)
///
/// An encoding overrides only what it uses. Positions come with the batch; no encoding makes its own. Values are built
/// with ordinary differentiable tensor operations, so that an encoding's own parameters learn through autograd whatever
/// kernel applies the values.
///
/// Adding an encoding: one file with a class and an EncodingEntry (positional/entry.h), and one line in registry.cc.
#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "arena/parameters.h"
#include "core/position_rule.h"
#include "kernels/plain_attention.h"
#include "kernels/step_noise.h"
#include "positional/shared_values.h"

namespace lengthwise {

/// The model an encoding serves.
struct EncodingShape {
  int64_t layers = 1;
  int64_t heads = 1;
  int64_t head_dim = 1;
  int64_t width = 1;
  at::ScalarType type = at::kFloat;
  at::Device device = at::kCPU;  ///< where its parameters are and its values are wanted
  int64_t trained_length = 0;    ///< tokens of the longest sequence of training; 0: not known
  int64_t trained_room = 0;      ///< tokens of a sequence of training for each one of its prompt, at most; 0: not known
};

/// Turns the pairs (2c, 2c+1) of the first 2 * pair dims of queries or keys; cos and sin may carry a factor.
/// Undefined: no rotation.
struct Rotation {
  at::Tensor cos, sin;  ///< [token, pair]
};

/// All that an encoding states about attention in one layer. What is undefined or 0 changes nothing.
struct LayerValues : ScoreTerms {
  Rotation query;
  Rotation key;            ///< undefined: as the queries
  at::Tensor query_scale;  ///< [token, head]: multiplies <q_i, k_j>, not the biases
};

/// Positions by a rule that the encoding states, of the same tokens as the index.
struct PositionStream {
  PositionRule rule;
  at::Tensor positions;  ///< [token] int64, or double where the rule says real numbers
  /// As in EncodingContext.
  at::Tensor query_positions, key_positions;
};

/// A bias of keys that a layer's own columns decide: every head has one, and a key's bias is what they add up to,
///
///     key_bias_jh = -sum over s <= j of ln sigmoid(sign (x_sh + constant_h))
struct KeyDecay {
  at::Tensor constant;  ///< [head], with its history
  double sign = 1;
};

/// What an encoding is asked for.
struct EncodingContext {
  at::Tensor positions;   ///< [token] int64: of the tokens whose queries and keys are made
  int64_t distances = 0;  ///< a query and its keys are less than this apart
  /// Defined where what belongs to pairs of tokens is asked for: in the plain decoder, and elsewhere for encodings that
  /// state dense biases.
  at::Tensor query_positions;  ///< [batch, query] int64; [1, query] where those of all sequences are the same
  at::Tensor key_positions;    ///< [batch, key] int64, or [1, key]
  /// What the encoding's columns of the layer's query-key-value product say; defined where it has some, unless the
  /// engine adds up their decay itself (Encoding::decay).
  at::Tensor query_features;  ///< [batch, query, column]
  at::Tensor key_features;    ///< [batch, key, column]
  /// The encoding's state in front of the layer; defined where it has one.
  at::Tensor query_state;               ///< [batch, query, number]
  at::Tensor key_state;                 ///< [batch, key, number]
  StepNoise noise;                      ///< what may be drawn in training, and how far it is
  std::vector<PositionStream> streams;  ///< by every rule that the encoding states
  /// What several layers ask for at once; copies of a context have it in common.
  std::shared_ptr<SharedValues> shared = std::make_shared<SharedValues>();

  const PositionStream& stream(const PositionRule& rule) const;
};

/// On a GPU whole steps are captured and replayed, and with them what these functions do. That needs values that are
/// made where they are wanted, from tensors that are there already; one that copies from the host when it is asked is
/// run piece by piece instead, which is slower. Random numbers come from StepNoise alone: any others would be drawn
/// once and replayed.
class Encoding {
 public:
  virtual ~Encoding() = default;

  /// [token, width] for positions [token] int64, or undefined.
  virtual at::Tensor embedding_addition(const at::Tensor& positions) const;

  /// The same where positions come by other rules than the index as well; this is what is asked for.
  virtual at::Tensor addition(const EncodingContext& context) const { return embedding_addition(context.positions); }

  /// Adds the rules by which it wants positions besides the index (data/placing.h applies them).
  virtual void add_rules(std::vector<PositionRule>& rules) const;

  virtual LayerValues layer(int64_t index, const EncodingContext& context) const;

  /// Layers with the same number have the same values, apart from what their columns say, and are asked for once
  /// unless they have columns.
  virtual int64_t variant(int64_t layer) const;

  /// Whether values are drawn from the context's noise: then they are asked for anew in every training step. What does
  /// not draw, and does not learn, is asked for once.
  virtual bool random() const { return false; }

  /// The shares of the training's steps at which values change, as the context's noise tells it (StepNoise::done).
  /// Between them a step that was captured may stand for another.
  virtual std::vector<double> turns() const { return {}; }
  bool has_course() const { return !turns().empty(); }

  /// Columns that it adds to the query-key-value product of a layer, as they start; the context carries what they say.
  virtual std::vector<NormalBlock> features(int64_t layer) const;

  /// How its columns of a layer decide a bias of keys, where that is a decay and all they do: for engines that add it
  /// up themselves. They ask for the layer's other values without saying what the columns say.
  virtual std::optional<KeyDecay> decay(int64_t layer) const;

  /// Whether `attend` stands for attention in this layer.
  virtual bool attends(int64_t layer) const;

  /// Attention in its own way; queries and keys are rotated and scaled as `values`, its own, say. `mask` multiplies the
  /// weights and may be undefined.
  virtual AttentionView attend(int64_t layer, const PaddedHeads& heads, const LayerValues& values,
                               const EncodingContext& context, double scale, const at::Tensor& mask) const;

  /// How many numbers it carries along with every token from layer to layer, besides the residual stream.
  virtual int64_t state_size() const { return 0; }

  /// The state in front of the first layer: [token, number] for the context's positions [token].
  virtual at::Tensor first_state(const EncodingContext& context) const;

  /// What a layer makes of the state. Behind its attention: [batch, query, number], from the context's states and
  /// attention's weights [batch, head, query, key]. Behind its feed-forward network: [row, number], from the state and
  /// from what the network adds to the residual stream, [row, width]. By default it stays as it is.
  virtual at::Tensor state_behind_attention(int64_t layer, const EncodingContext& context,
                                            const at::Tensor& weights) const;
  virtual at::Tensor state_behind_network(int64_t layer, const at::Tensor& state, const at::Tensor& branch) const;

  /// No sequence has more tokens than this, if set; of the index: positions are below it.
  virtual std::optional<int64_t> position_limit() const { return std::nullopt; }
};

/// Kinds of values, as bits: each engine says which it applies.
enum ValueKind : uint32_t {
  kAddition = 1,
  kRotation = 2,
  kKeyRotation = 4,  ///< of keys other than that of queries
  kQueryScale = 8,
  kTable = 16,
  kLearnedTable = 32,
  kDense = 64,
  kRelativeKeys = 128,
  kWindow = 256,
  kKeyBias = 512,
  kFeatures = 1024,
  kOwnAttention = 2048,
  kLearnedRotation = 4096,
  kCourse = 8192,  ///< values that change in the course of training
  kState = 16384,  ///< numbers that go from layer to layer
  kRules = 32768,  ///< positions by other rules than the index
  kDecay = 65536,  ///< columns of the query-key-value product that are a decay of keys; others are kFeatures
};

/// The rules that it states, each once.
std::vector<PositionRule> rules_of(const Encoding& encoding);

/// Positions by a rule where nobody placed the tokens: their index for random rules, 0 for those that go by content.
at::Tensor unplaced(const PositionRule& rule, const at::Tensor& index);

/// Which stretch of training between two turns a step lies in; 0: before the first.
int64_t phase_of(const Encoding& encoding, double done);

/// The turns of all of them.
std::vector<double> turns_of(const std::vector<std::unique_ptr<Encoding>>& parts);

/// How many columns they are in all.
int64_t column_count(const std::vector<NormalBlock>& blocks);

/// Which of them are stated.
uint32_t kinds_of(const LayerValues& values);

/// What the encoding states in some layer, as ValueKinds. Its parameters have memory.
uint32_t kinds_of(const Encoding& encoding, const EncodingShape& shape);

/// What the fused kernels apply: those of the GPU, and those of the CPU.
inline constexpr uint32_t kGpuKinds = kAddition | kRotation | kTable | kLearnedTable | kKeyRotation | kQueryScale |
                                      kWindow | kDense | kDecay | kCourse | kRules;
inline constexpr uint32_t kCpuKinds = kGpuKinds | kKeyBias | kFeatures;

inline bool is_fused(uint32_t kinds, at::Device device) {
  return (kinds & ~(device.is_cpu() ? kCpuKinds : kGpuKinds)) == 0;
}

/// Parameters of an encoding, or of a part of one, under a prefix of its own.
class EncodingParameters {
 public:
  EncodingParameters(Parameters& parameters, std::string prefix)
      : parameters_(parameters), prefix_(std::move(prefix)) {}

  Parameter& add(const std::string& name, std::vector<int64_t> shape, Initial initial, bool decay = true) {
    return parameters_.add(prefix_ + name, std::move(shape), std::move(initial), decay);
  }

  EncodingParameters part(const std::string& name) { return {parameters_, prefix_ + name + "."}; }

 private:
  Parameters& parameters_;
  std::string prefix_;
};

}  // namespace lengthwise
