#include "model/plain_layer.h"

#include <ATen/ATen.h>
#include <torch/csrc/autograd/custom_function.h>

#include "kernels/elementwise.h"
#include "kernels/plain_attention.h"

namespace lengthwise {
namespace {

at::Tensor normed(const Decoder& decoder, const at::Tensor& x, const Parameter& gain) {
  if (!decoder.normalizes()) return x;
  return at::rms_norm(x, x.size(-1), gain.value, kNormEpsilon);
}

at::Tensor drop(const at::Tensor& x, const PlainStep& step, DropoutPlace place, int64_t layer = 0) {
  if (!step.dropout.active()) return x;
  return x * step.dropout.mask(place, layer, x.size(0), x.size(1), x.options().requires_grad(false));
}

/// The product of two bfloat16 matrices with sums in float, as float.
at::Tensor sums_of(const at::Tensor& a, const at::Tensor& b) {
  return a.is_cuda() ? at::mm(a, b, at::kFloat) : at::mm(a.to(at::kFloat), b.to(at::kFloat));
}

/// The same, rounded to bfloat16. CPUs without instructions for it would be slow.
at::Tensor rounded_sums_of(const at::Tensor& a, const at::Tensor& b) {
  return a.is_cuda() ? at::mm(a, b) : sums_of(a, b).to(at::kBFloat16);
}

/// x W with operands and result rounded to bfloat16 and sums in float, as kernels for it do. So is the gradient that
/// passes to x; that of W, made of rounded factors, is not rounded itself.
class RoundedProduct : public torch::autograd::Function<RoundedProduct> {
 public:
  static at::Tensor forward(torch::autograd::AutogradContext* context, const at::Tensor& x, const at::Tensor& weight) {
    const at::Tensor rounded_x = x.to(at::kBFloat16);
    const at::Tensor rounded_weight = weight.to(at::kBFloat16);
    context->save_for_backward({rounded_x, rounded_weight});
    return rounded_sums_of(rounded_x, rounded_weight).to(at::kFloat);
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 const torch::autograd::variable_list& gradients) {
    const torch::autograd::variable_list saved = context->get_saved_variables();
    const at::Tensor gradient = gradients[0].to(at::kBFloat16);
    return {rounded_sums_of(gradient, saved[1].t()).to(at::kFloat), sums_of(saved[0].t(), gradient)};
  }
};

at::Tensor linear(const at::Tensor& x, const at::Tensor& weight, Arithmetic arithmetic) {
  return arithmetic == Arithmetic::full ? at::mm(x, weight) : RoundedProduct::apply(x, weight);
}

}  // namespace

PlainRows plain_embedding(const Decoder& decoder, const at::Tensor& tokens, const EncodingContext& context,
                          const PlainStep& step) {
  at::Tensor h = at::embedding(decoder.embedding().value, tokens);
  if (const at::Tensor addition = decoder.encoding().addition(context); addition.defined()) {
    h = h + addition;
  }
  return {drop(h, step, DropoutPlace::embedding), decoder.encoding().first_state(context)};
}

PlainRows plain_layer(const Decoder& decoder, int64_t index, const PlainRows& before, const PlainAttend& attend,
                      const PlainStep& step, const at::Tensor& kept) {
  auto [h, state] = before;
  const ModelConfig& config = decoder.config();
  const LayerParameters& layer = decoder.layer(index);
  const auto dropped = [&](const at::Tensor& x, DropoutPlace place) { return drop(x, step, place, index); };
  const auto product = [&](const at::Tensor& x, const Parameter* weight) {
    return linear(x, weight->value, step.arithmetic);
  };
  const at::Tensor qkv = product(normed(decoder, h, *layer.attention_gain), layer.qkv);
  const int64_t inner = config.heads * config.head_dim;
  const int64_t columns = qkv.size(1) - 3 * inner;
  const std::vector<at::Tensor> blocks =
      columns > 0 ? qkv.split_with_sizes({3 * inner, columns}, 1) : std::vector<at::Tensor>{qkv, {}};
  at::Tensor mixed = attend(blocks[0].reshape({h.size(0), 3, config.heads, config.head_dim}), blocks[1], state);
  if (kept.defined()) {
    state.reset();
    mixed = mixed.index_select(0, kept);
    h = h.index_select(0, kept);
  }
  h = h + dropped(product(mixed, layer.out), DropoutPlace::attention_out);
  const at::Tensor hidden =
      dropped(at::relu(product(normed(decoder, h, *layer.ff_gain), layer.ff_in)), DropoutPlace::ff_hidden);
  const at::Tensor branch = dropped(product(hidden, layer.ff_out), DropoutPlace::ff_out);
  if (state.defined()) state = decoder.encoding().state_behind_network(index, state, branch);
  return {h + branch, state};
}

at::Tensor plain_parts(const at::Tensor& qkv, const LayerValues& values) {
  const Rotation& query = values.query;
  const Rotation& key = values.key.cos.defined() ? values.key : query;
  if (!query.cos.defined() && !key.cos.defined() && !values.query_scale.defined()) return qkv;
  const auto turned = [](const at::Tensor& x, const Rotation& rotation) {
    if (!rotation.cos.defined()) return x;
    return plain_rotate(x.transpose(0, 1), rotation.cos, rotation.sin).transpose(0, 1);
  };
  const std::vector<at::Tensor> parts = qkv.unbind(1);
  const at::Tensor q = turned(parts[0], query);
  return at::stack(
      {values.query_scale.defined() ? q * values.query_scale.unsqueeze(-1) : q, turned(parts[1], key), parts[2]}, 1);
}

AttentionView plain_attend(const Decoder& decoder, int64_t layer, const PaddedHeads& heads, const LayerValues& values,
                           const EncodingContext& context, const at::Tensor& mask) {
  const Encoding& encoding = decoder.encoding();
  return encoding.attends(layer) ? encoding.attend(layer, heads, values, context, decoder.score_scale(), mask)
                                 : plain_attention(heads, values, decoder.score_scale(), mask);
}

at::Tensor plain_head_rows(const Decoder& decoder, const at::Tensor& h, const PlainStep& step) {
  const at::Tensor rows = drop(normed(decoder, h, decoder.final_gain()), step, DropoutPlace::final);
  return rows * decoder.logit_scale();
}

at::Tensor plain_head(const Decoder& decoder, const at::Tensor& h, const PlainStep& step) {
  return at::matmul(plain_head_rows(decoder, h, step), decoder.embedding().value.t());
}

}  // namespace lengthwise
