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

#include "model/model.h"
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

/// Makes an encoding that is in no list.
using MakeEncoding = std::unique_ptr<Encoding> (*)(const EncodingShape&, EncodingParameters);

class Decoder : public Model {
 public:
  /// `config` must be resolved. The numbers a parameter starts with depend on the seed and its name; without a seed
  /// they are zeros, for weights that come from elsewhere. `make_encoding`: an encoding that is in no list, instead of
  /// the one that the configuration names.
  Decoder(const ModelConfig& config, std::optional<uint64_t> seed, at::ScalarType type = at::kFloat,
          at::Device device = at::kCPU, MakeEncoding make_encoding = nullptr);

  std::string called() const override { return "the encoding " + info_.name; }
  std::optional<int64_t> position_limit() const override { return encoding_->position_limit(); }
  bool uses_absolute_positions() const override { return info_.absolute; }
  /// By the plain decoder (model/plain_decoder.h).
  at::Tensor rows(const Batch& batch, const StepDropout& dropout, Arithmetic arithmetic) const override;
  at::Tensor head(const at::Tensor& rows) const override;
  /// The residual stream, by model/inspect.h.
  std::vector<at::Tensor> hidden(const Batch& batch) const override;
  /// By fused kernels where they apply the encoding (model/cpu_engine.h).
  std::unique_ptr<Engine> engine(Arithmetic arithmetic) override;
  /// With all keys and values (model/packed_cache.h, model/key_value_cache.h).
  std::unique_ptr<Continuation> continuation(Arithmetic arithmetic, int64_t texts, int64_t capacity) override;
  int64_t bytes_kept(int64_t capacity) const override;

  const Encoding& encoding() const { return *encoding_; }
  const EncodingInfo& encoding_info() const { return info_; }
  std::vector<const Parameter*> encoding_parameters() const;  ///< those the encoding brought along

  const Parameter& embedding() const { return *embedding_; }    ///< [vocab, width]
  const Parameter& final_gain() const { return *final_gain_; }  ///< [width]
  const LayerParameters& layer(int64_t index) const { return layers_[static_cast<size_t>(index)]; }
  double score_scale() const { return score_scale_; }
  bool normalizes() const { return config_.norm == "rms"; }  ///< false: every norm is the identity
  /// Whether the fused kernels of its device can run it; otherwise the plain decoder does.
  bool fused() const { return normalizes() && is_fused(kinds_, parameters_.values().device()); }
  /// Whether one token after the other can be generated so: not where values follow from what all tokens said,
  /// or belong to pairs of them.
  bool generates_fused() const { return fused() && !follows_content() && !goes_by_pairs(); }
  /// Whether what its encoding states follows from what tokens say.
  bool follows_content() const { return (kinds_ & (kFeatures | kDecay)) != 0; }
  /// Whether its encoding asks for positions by other rules than the index.
  bool goes_by_rules() const { return (kinds_ & kRules) != 0; }
  /// Whether what its encoding states belongs to pairs of tokens.
  bool goes_by_pairs() const { return (kinds_ & kDense) != 0; }
  double logit_scale() const;

 private:
  friend int64_t count_decoder_parameters(const ModelConfig& config);

  /// Parameters with names and shapes but no memory.
  Decoder(const ModelConfig& config, at::ScalarType type, at::Device device, MakeEncoding make_encoding);

  Parameter* embedding_ = nullptr;
  Parameter* final_gain_ = nullptr;
  std::vector<LayerParameters> layers_;
  std::unique_ptr<Encoding> encoding_;
  EncodingInfo info_;
  uint32_t kinds_ = 0;        ///< what the encoding states
  size_t encoding_from_ = 0;  ///< place of its first parameter
  double score_scale_ = 1;
};

/// Decoder::fused without making a decoder; of another architecture false. `config` must be resolved.
bool runs_fused(const ModelConfig& config, at::Device device = at::kCPU);

/// How many numbers a decoder of this configuration learns, without making it. `config` must be resolved.
int64_t count_decoder_parameters(const ModelConfig& config);

/// The model as a decoder; nullptr: it is none.
Decoder* as_decoder(Model& model);
const Decoder* as_decoder(const Model& model);

}  // namespace lengthwise
