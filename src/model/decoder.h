#pragma once
/// The decoder's parameters: what every way of running it shares.
///
///     h = dropout(E[tokens] + addition)
///     per layer:  h += dropout(attention(norm(h)) Wo);   h += dropout(dropout(relu(norm(h) W1)) W2)
///     logits = dropout(norm(h)) width^-1/2 E^T
///
/// Pre-norm, RMSNorm, no biases, tied head, T5 initialisation (section 1 of the paper's protocol). Weights are stored
/// [in, out], so that a layer is x W. Two ways of running it: model/plain_decoder.h, the definition, and
/// model/cpu_engine.h, the same numbers by fused kernels.
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "arena/parameters.h"
#include "data/placing.h"
#include "kernels/dropout.h"
#include "kernels/step_noise.h"
#include "model/model_config.h"
#include "positional/encoding.h"

namespace lengthwise {

struct LayerParameters {
  Parameter* attention_gain;  ///< [width]
  Parameter* qkv;             ///< [width, 3 * head * dim], and behind them the encoding's columns
  Parameter* out;             ///< [head * dim, width]
  Parameter* ff_gain;         ///< [width]
  Parameter* ff_in;           ///< [width, ff]
  Parameter* ff_out;          ///< [ff, width]
};

/// How the layers' matrix products are made. bf16: operands and results are bfloat16 (weights rounded once per pass,
/// activations where they are written), sums float; the residual stream, softmax, norms, the head and the loss stay
/// float, and so do weight gradients.
enum class Arithmetic { full, bf16 };

/// `fp32` or `bf16`, as in the configuration.
Arithmetic arithmetic_of(const std::string& precision);

/// The places where dropout acts, each with masks of its own.
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

/// Makes an encoding that is in no list.
using MakeEncoding = std::unique_ptr<Encoding> (*)(const EncodingShape&, EncodingParameters);

class Decoder {
 public:
  /// `config` must be resolved. The numbers a parameter starts with depend on the seed and its name. `make_encoding`:
  /// an encoding that is in no list, instead of the one that the configuration names.
  Decoder(const ModelConfig& config, uint64_t seed, at::ScalarType type = at::kFloat, at::Device device = at::kCPU,
          MakeEncoding make_encoding = nullptr);
  Decoder(const Decoder&) = delete;
  Decoder& operator=(const Decoder&) = delete;

  const ModelConfig& config() const { return config_; }
  Parameters& parameters() { return parameters_; }
  const Parameters& parameters() const { return parameters_; }
  const Encoding& encoding() const { return *encoding_; }
  const EncodingInfo& encoding_info() const { return info_; }
  /// By which rules the encoding wants its tokens placed, and what is known of them; batches are made by it.
  const Placing& placing() const { return placing_; }
  /// Says what the tokens stand for; before that nothing is known of them.
  void know(std::shared_ptr<const Glossary> glossary) { placing_.glossary = std::move(glossary); }
  std::vector<const Parameter*> encoding_parameters() const;  ///< those the encoding brought along

  const Parameter& embedding() const { return *embedding_; }    ///< [vocab, width]
  const Parameter& final_gain() const { return *final_gain_; }  ///< [width]
  const LayerParameters& layer(int64_t index) const { return layers_[static_cast<size_t>(index)]; }
  double score_scale() const { return score_scale_; }
  bool normalizes() const { return config_.norm == "rms"; }  ///< false: every norm is the identity
  /// Whether the fused kernels of its device can run it; otherwise the plain decoder does.
  bool fused() const { return normalizes() && is_fused(kinds_, parameters_.values().device()); }
  /// Whether one token after the other can be generated so: not where values follow from what all tokens said.
  bool generates_fused() const { return fused() && (kinds_ & kFeatures) == 0; }
  double logit_scale() const;

 private:
  friend int64_t count_parameters(const ModelConfig& config);

  /// Parameters with names and shapes but no memory.
  Decoder(const ModelConfig& config, at::ScalarType type, at::Device device, MakeEncoding make_encoding);

  ModelConfig config_;
  Parameters parameters_;
  Parameter* embedding_ = nullptr;
  Parameter* final_gain_ = nullptr;
  std::vector<LayerParameters> layers_;
  std::unique_ptr<Encoding> encoding_;
  EncodingInfo info_;
  uint32_t kinds_ = 0;  ///< what the encoding states
  Placing placing_;
  size_t encoding_from_ = 0;  ///< place of its first parameter
  double score_scale_ = 1;
};

/// Decoder::fused without making a decoder. `config` must be resolved.
bool runs_fused(const ModelConfig& config, at::Device device = at::kCPU);

/// How many numbers a decoder of this configuration learns, without making it. `config` must be resolved.
int64_t count_parameters(const ModelConfig& config);

}  // namespace lengthwise
