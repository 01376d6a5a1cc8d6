#include <ATen/ATen.h>
#include <torch/csrc/autograd/autograd.h>

#include "kernels/elementwise.h"
#include "model/cpu_step.h"

namespace lengthwise {
namespace {

at::Tensor spread(const at::Tensor& x, const at::Tensor& rows, at::Tensor to) {
  return to.zero_().index_copy_(0, rows, x);
}

}  // namespace

void CpuEngine::backward(const Step& step) {
  const ModelConfig& config = decoder_.config();
  const Batch& batch = step.batch;
  const StepDropout& dropout = step.dropout;
  const int64_t tokens = batch.token_count();
  const int64_t width = config.width;
  const int64_t inner = config.heads * config.head_dim;

  at::Tensor d_rows = step.d_rows;
  d_rows.mul_(decoder_.logit_scale());
  dropout_forward(d_rows, dropout.at(DropoutPlace::final), d_rows);

  at::Tensor d_h = exact(d_h_rows_store_, {batch.target_count(), width});
  d_h.zero_();
  at::Tensor d_branch = rounded(d_branch_store_, {batch.target_count(), width});
  at::Tensor gradient = decoder_.final_gain().gradient;
  add_norm_backward(d_rows, step.h, step.inverse, decoder_.final_gain().value,
                    dropout.at(DropoutPlace::ff_out, config.layers - 1), d_h, d_branch, gradient);

  const auto zeros_like = [](const at::Tensor& value) {
    return value.defined() && value.requires_grad() ? at::zeros(value.sizes(), value.options()) : at::Tensor();
  };
  std::vector<StatedGradients> d_stated;  // by entry; undefined where a value does not learn
  std::vector<at::Tensor> d_constants(step.decays.size());
  for (const LayerValues& entry : step.values.entries)
    d_stated.push_back({.table = zeros_like(entry.table), .dense = zeros_like(entry.dense)});
  for (int64_t index = config.layers - 1; index >= 0; --index) {
    const LayerParameters& layer = decoder_.layer(index);
    const Saved& saved = saved_[static_cast<size_t>(index)];
    const int64_t rows = saved.hidden.size(0);
    at::Tensor d_hidden = rounded(d_hidden_store_, {rows, config.ff_width});
    at::Tensor d_normed = rounded(d_normed_store_, {rows, width});
    at::Tensor d_mixed = rounded(d_mixed_store_, {rows, inner});
    learn_product(saved.hidden, d_branch, layer.ff_out);
    multiply_transposed(d_branch, weights(layer.ff_out), d_hidden);
    relu_dropout_backward(saved.hidden, dropout.at(DropoutPlace::ff_hidden, index), d_hidden);
    learn_product(saved.normed_mid, d_hidden, layer.ff_in);
    multiply_transposed(d_hidden, weights(layer.ff_in), d_normed);
    add_norm_backward(d_normed, saved.h_mid, saved.inverse_mid, layer.ff_gain->value,
                      dropout.at(DropoutPlace::attention_out, index), d_h, d_branch, layer.ff_gain->gradient);

    learn_product(saved.mixed, d_branch, layer.out);
    multiply_transposed(d_branch, weights(layer.out), d_mixed);
    if (index + 1 == config.layers) {
      d_mixed = spread(d_mixed, batch.loss_rows, rounded(d_mixed_all_store_, {tokens, inner}));
      d_h = spread(d_h, batch.loss_rows, exact(d_h_store_, {tokens, width}));
      d_branch = rounded(d_branch_store_, {tokens, width});
      d_normed = rounded(d_normed_store_, {tokens, width});
    }
    const auto like = [](const at::Tensor& value) {
      return value.defined() && value.requires_grad() ? at::empty(value.sizes(), value.options()) : at::Tensor();
    };
    StatedGradients& d_entry = d_stated[step.values.entry_of(index)];
    at::Tensor d_qkv = rounded(d_qkv_store_, {tokens, layer.qkv->shape[1]});
    AttentionGradients d_attention{d_qkv.narrow(1, 0, 3 * inner), like(step.values.of(index).query_scale),
                                   like(step.values.of(index).key_bias), d_entry.table, d_entry.dense};
    const std::optional<KeyDecay>& decay = step.decays[static_cast<size_t>(index)];
    if (decay) d_attention.key_bias = exact(d_key_bias_store_, {tokens, config.heads});
    attention_backward(step.attention[static_cast<size_t>(index)], saved.log_sum, d_mixed, d_attention);
    if (decay) {
      at::Tensor d_columns = d_qkv.narrow(1, 3 * inner, config.heads);
      at::Tensor& d_constant = d_constants[static_cast<size_t>(index)];
      d_constant = at::zeros(decay->constant.sizes(), decay->constant.options());
      key_decay_backward(decay_of(step, index), d_attention.key_bias, d_columns, d_constant);
    }
    if (const ContentValues& content = step.content[static_cast<size_t>(index)]; content.features.defined()) {
      d_entry.query_scale = d_attention.query_scale;
      d_entry.key_bias = d_attention.key_bias;
      d_qkv.narrow(1, 3 * inner, content.features.size(1)).copy_(content_backward(content, d_entry));
      d_entry = {};
    } else if (d_attention.query_scale.defined()) {
      at::Tensor& sum = d_entry.query_scale;
      sum = sum.defined() ? sum + d_attention.query_scale : d_attention.query_scale;
    }
    learn_product(saved.normed, d_qkv, layer.qkv);
    multiply_transposed(d_qkv, weights(layer.qkv), d_normed);
    at::Tensor d_below = index > 0 ? d_branch : at::Tensor();
    add_norm_backward(d_normed, saved.h, saved.inverse, layer.attention_gain->value,
                      dropout.at(DropoutPlace::ff_out, index - 1), d_h, d_below, layer.attention_gain->gradient);
  }
  gradient = decoder_.embedding().gradient;
  embed_backward(batch.tokens, dropout.at(DropoutPlace::embedding), d_h, gradient);

  // The encoding's own parameters learn by autograd from the gradients of the values it stated.
  std::vector<at::Tensor> stated, gradients;
  const auto add = [&](const at::Tensor& value, const at::Tensor& d_value) {
    if (!d_value.defined()) return;
    stated.push_back(value);
    gradients.push_back(d_value);
  };
  for (size_t index = 0; index < d_constants.size(); ++index) {
    if (step.decays[index]) add(step.decays[index]->constant, d_constants[index]);
  }
  for (size_t entry = 0; entry < d_stated.size(); ++entry) {
    add(step.values.entries[entry].table, d_stated[entry].table);
    add(step.values.entries[entry].dense, d_stated[entry].dense);
    add(step.values.entries[entry].query_scale, d_stated[entry].query_scale);
  }
  if (step.addition.defined() && step.addition.requires_grad()) {
    stated.push_back(step.addition);
    gradients.push_back(d_h);
  }
  if (!stated.empty()) torch::autograd::backward(stated, gradients);
}

}  // namespace lengthwise
