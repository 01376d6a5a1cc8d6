#pragma once
/// What training, evaluation and generation know of a network: it has parameters, scores the targets of a batch, gives
/// their gradients, and continues texts token by token. The decoder (decoder.h) is one kind, recurrent networks
/// (recurrent_network.h) are others; architectures.h lists them.
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "arena/parameters.h"
#include "batch/batch.h"
#include "data/placing.h"
#include "model/continuation.h"
#include "model/model_config.h"
#include "model/scorer.h"
#include "model/step_dropout.h"

namespace lengthwise {

/// How the layers' matrix products are made. bf16: operands and results are bfloat16 (weights rounded once per pass,
/// activations where they are written), sums float; the residual stream, softmax, norms, the head and the loss stay
/// float, and so do weight gradients. Recurrent networks know `full` alone.
enum class Arithmetic { full, bf16 };

/// `fp32` or `bf16`, as in the configuration.
Arithmetic arithmetic_of(const std::string& precision);

/// Scores of batches, and their gradients, on the CPU.
class Engine : public Scorer {
 public:
  /// Adds the gradient of `weight` times the summed loss to the gradient arena (weight = 1 / targets: the mean).
  virtual TargetScores accumulate_gradients(const Batch& batch, const StepDropout& dropout, double weight) = 0;
};

class Model {
 public:
  virtual ~Model() = default;
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;

  const ModelConfig& config() const { return config_; }
  Parameters& parameters() { return parameters_; }
  const Parameters& parameters() const { return parameters_; }
  at::Device device() const { return parameters_.values().device(); }
  /// By which rules it wants its tokens placed, and what is known of them; batches are made by it.
  const Placing& placing() const { return placing_; }
  /// Says what the tokens stand for; before that nothing is known of them.
  void know(std::shared_ptr<const Glossary> glossary) { placing_.glossary = std::move(glossary); }

  /// How messages call what decides where tokens stand: `the encoding rope`, `the architecture cwrnn`.
  virtual std::string called() const = 0;
  /// Tokens of the longest sequence that it can place, where there is a limit.
  virtual std::optional<int64_t> position_limit() const { return std::nullopt; }
  /// Whether it matters at which position a sequence begins.
  virtual bool uses_absolute_positions() const { return false; }

  /// What the head makes logits of, at the batch's loss rows: [target, number]. By ordinary tensor operations where the
  /// parameters lie, as the batch does; differentiable.
  virtual at::Tensor rows(const Batch& batch, const StepDropout& dropout, Arithmetic arithmetic) const = 0;
  /// Logits [row, vocab] of such rows, differentiable.
  virtual at::Tensor head(const at::Tensor& rows) const = 0;
  /// [token, number] each: what the first layer reads, then what every layer leaves; no dropout. The batch lies where
  /// the parameters do.
  virtual std::vector<at::Tensor> hidden(const Batch& batch) const = 0;

  /// The fastest way to score and to learn where the parameters lie on the CPU. The model must outlive it.
  virtual std::unique_ptr<Engine> engine(Arithmetic arithmetic) = 0;
  /// For so many texts of up to `capacity` tokens each. The model must outlive it.
  virtual std::unique_ptr<Continuation> continuation(Arithmetic arithmetic, int64_t texts, int64_t capacity) = 0;
  /// Bytes that a continuation keeps of a text.
  virtual int64_t bytes_kept(int64_t capacity) const = 0;

 protected:
  explicit Model(const ModelConfig& config) : config_(config) {}

  ModelConfig config_;
  Parameters parameters_;
  Placing placing_;
};

}  // namespace lengthwise
