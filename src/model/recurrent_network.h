#pragma once
/// A recurrent network as a model: an embedding, recurrent layers over each other, a head.
///
///     x = dropout(E[tokens]);   per layer: x = h of the layer (recurrent/layer.h), with dropout in front of the next
///     one logits = dropout(x) O^T
///
/// It has no positional encoding: its state knows how far it has come. Time is the place of a token in its sequence,
/// from 0, wherever the batch's positions begin. Sequences of a batch do not see each other. All in full precision.
#include <vector>

#include "model/model.h"
#include "recurrent/layer.h"

namespace lengthwise {

class RecurrentNetwork : public Model {
 public:
  /// `config` must be resolved, of an architecture with recurrent layers. Without a seed its parameters are zeros.
  RecurrentNetwork(const ModelConfig& config, std::optional<uint64_t> seed, at::ScalarType type = at::kFloat,
                   at::Device device = at::kCPU);

  std::string called() const override { return "the architecture " + config_.architecture; }
  at::Tensor rows(const Batch& batch, const StepDropout& dropout, Arithmetic arithmetic) const override;
  at::Tensor head(const at::Tensor& rows) const override;
  std::vector<at::Tensor> hidden(const Batch& batch) const override;
  std::unique_ptr<Engine> engine(Arithmetic arithmetic) override;
  /// One state for each text, however long it is.
  std::unique_ptr<Continuation> continuation(Arithmetic arithmetic, int64_t texts, int64_t capacity) override;
  int64_t bytes_kept(int64_t capacity) const override;

  const std::vector<std::unique_ptr<RecurrentLayer>>& layers() const { return layers_; }
  at::Tensor embed(const at::Tensor& tokens) const;  ///< [token, width] of tokens [token]

 private:
  friend int64_t count_recurrent_parameters(const ModelConfig& config);

  /// Parameters with names and shapes but no memory.
  explicit RecurrentNetwork(const ModelConfig& config);

  Parameter* embedding_;  ///< [vocab, width]
  Parameter* out_;        ///< [vocab, unit]
  std::vector<std::unique_ptr<RecurrentLayer>> layers_;
};

/// How many numbers a recurrent network of this configuration learns. `config` must be resolved.
int64_t count_recurrent_parameters(const ModelConfig& config);

}  // namespace lengthwise
