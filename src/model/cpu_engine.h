#pragma once
/// The decoder on the CPU by fused kernels: forward, and forward with backward into the gradient arena.
///
/// The same function as model/plain_decoder.h, which tests hold it against for every encoding, in value and in
/// gradient. The head runs in pieces (head_pieces.h). Activations live in buffers that are kept from step to step;
/// their size is linear in the batch's tokens. From the last layer's attention on, nothing but the rows of targets is
/// computed: no other row reaches the loss. An encoding whose values the fused kernels cannot apply (is_fused is false)
/// runs through the plain decoder.
///
/// Arithmetic::bf16 needs float parameters.
#include <functional>
#include <optional>
#include <vector>

#include "batch/batch.h"
#include "kernels/attention.h"
#include "kernels/key_decay.h"
#include "model/decoder.h"
#include "model/product_weights.h"

namespace lengthwise {

class CpuEngine : public Engine {
 public:
  /// How a layer's queries, keys and values become its result: attention_forward, or what stands for it.
  using Attend =
      std::function<void(int64_t layer, const AttentionInputs& inputs, at::Tensor& out, at::Tensor& log_sum)>;

  explicit CpuEngine(Decoder& decoder, Arithmetic arithmetic = Arithmetic::full);

  TargetScores score(const Batch& batch) override;
  int64_t token_budget() const override { return 8192; }
  const Placing* placing() const override { return &decoder_.placing(); }

  /// Scoring attends so from now on, where the encoding is fused(); gradients do not know of it.
  void attend_with(Attend attend) { attend_ = std::move(attend); }

  /// Says that the decoder's parameters will not change any more: they are rounded once and not before every batch.
  void fix_weights();

  TargetScores accumulate_gradients(const Batch& batch, const StepDropout& dropout, double weight) override;

 private:
  /// What a layer leaves for its backward pass. `h`, `h_mid`: the residual stream in front of attention and of the
  /// feed-forward; `inverse`: reciprocal standard deviations of the norms; `normed`: their results; `mixed`:
  /// attention's output, the values mixed by its weights, in front of the output projection; `log_sum`: logarithms of
  /// the softmax's denominators; `key_bias`: what a decay of keys adds up to; `hidden`: behind the rectifier.
  struct Saved {
    at::Tensor h, inverse, normed, qkv, key_bias, mixed, log_sum, h_mid, inverse_mid, normed_mid, hidden;
  };
  struct Step;

  at::Tensor buffer(at::Tensor& store, at::IntArrayRef shape, at::ScalarType type) const;
  at::Tensor exact(at::Tensor& store, at::IntArrayRef shape) const;    ///< as the parameters
  at::Tensor rounded(at::Tensor& store, at::IntArrayRef shape) const;  ///< as the operands of products
  const ProductWeight& weights(const Parameter* parameter) const { return weights_.of(*parameter); }
  TargetScores run(const Batch& batch, const StepDropout& dropout, bool backward, double weight);
  TargetScores run_plain(const Batch& batch, const StepDropout& dropout, bool backward, double weight);
  /// A decay of keys that a layer's own columns decide.
  DecayInputs decay_of(const Step& step, int64_t index) const;
  /// Asks for the values of a layer that has other columns of its own, once their product is there.
  void read_content(Step& step, EncodingContext context, int64_t index, bool backward);
  /// Losses of the rows, in pieces; with a weight also their gradient and that of the head's weights.
  TargetScores head(Step& step, double weight);
  void backward(const Step& step);

  Decoder& decoder_;
  Arithmetic arithmetic_;
  Attend attend_;
  ProductWeights weights_;
  bool fixed_ = false;         ///< they are up to date for good
  std::vector<Saved> saved_;   ///< views of this step
  std::vector<Saved> stores_;  ///< the memory behind them
  at::Tensor embedded_store_, branch_store_, final_h_store_, final_inverse_store_, mixed_rows_store_, h_rows_store_,
      head_store_, logits_store_, d_h_store_, d_h_rows_store_, d_normed_store_, d_branch_store_, d_hidden_store_,
      d_qkv_store_, d_key_bias_store_, d_mixed_store_, d_mixed_all_store_, d_head_store_;
};

}  // namespace lengthwise
