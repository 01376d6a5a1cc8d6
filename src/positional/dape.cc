#include <ATen/ATen.h>

#include <cmath>

#include "kernels/attention_parts.h"
#include "positional/entry.h"
#include "positional/formulas.h"
#include "positional/own_attention.h"

namespace lengthwise {
namespace {

constexpr double kLeak = 0.01;

/// A bias that a small network changes by content, pair by pair, mixing the heads:
///
///     S' = S + B + W_2 LeakyReLU(W_1 [S, B] + b),   S = scale <q_i, k_j>, [S, B] of all heads
///
/// B is ALiBi's, or, with `base=none`, that of the encodings it is added to: `dape(base=none)+t5`. One network for each
/// layer. A bias behind W_2, which the released code has, would be the same for every key of a row: the softmax removes
/// it.
class Dape : public Encoding {
 public:
  Dape(const EncodingArguments& arguments, const EncodingShape& shape, EncodingParameters parameters) {
    const std::string base = arguments.text("base");
    if (base != "alibi" && base != "none") arguments.refuse("base", "alibi or none");
    if (base == "alibi") slopes_ = at::tensor(alibi_slopes(shape.heads), at::kDouble).to(shape.device, shape.type);
    const int64_t hidden = arguments.whole("hidden", 1, 4096);
    const auto rsqrt = [](int64_t x) { return Initial::normal(1.0 / std::sqrt(static_cast<double>(x))); };
    for (int64_t index = 0; index < shape.layers; ++index) {
      EncodingParameters own = parameters.part(std::to_string(index));
      networks_.push_back({&own.add("in", {2 * shape.heads, hidden}, rsqrt(2 * shape.heads)),
                           &own.add("bias", {hidden}, Initial::all(0), /*decay=*/false),
                           &own.add("out", {hidden, shape.heads}, rsqrt(hidden))});
    }
  }

  LayerValues layer(int64_t, const EncodingContext& context) const override {
    LayerValues values;
    if (slopes_.defined()) values.table = alibi_table(slopes_, context.distances);
    return values;
  }

  bool attends(int64_t) const override { return true; }

  AttentionView attend(int64_t layer, const PaddedHeads& heads, const LayerValues& values, const EncodingContext&,
                       double scale, const at::Tensor& mask) const override {
    const Network& network = networks_[static_cast<size_t>(layer)];
    const at::Tensor content = content_scores(heads, scale);
    const at::Tensor bias = own_scores(at::zeros_like(content), heads, values, scale);
    const at::Tensor pairs = at::cat({content, bias}, 1).movedim(1, -1);
    const at::Tensor hidden = at::leaky_relu(at::matmul(pairs, network.in->value) + network.bias->value, kLeak);
    const at::Tensor change = at::matmul(hidden, network.out->value).movedim(-1, 1);
    return softmax_attention(content + bias + change, heads, values.window, mask);
  }

 private:
  struct Network {
    Parameter *in, *bias, *out;  ///< [2 heads, hidden], [hidden], [hidden, head]
  };

  at::Tensor slopes_;  ///< [head]
  std::vector<Network> networks_;
};

}  // namespace

extern const EncodingEntry dape_encoding{
    .info = {.name = "dape",
             .label = "DAPE",
             .family = "content",
             .formula = "S' = S + B + MLP([S, B]) over the heads of each pair, B = ALiBi",
             .paper = "Zheng et al. 2024 (2405.14722)",
             .learned = "3 heads x hidden and hidden, in each layer"},
    .options = {{"base", "alibi", "the bias that is changed: alibi, or none for those of the sum it is part of"},
                {"hidden", "32", "units of the network"}},
    .make = [](const EncodingArguments& arguments, const EncodingShape& shape, EncodingParameters parameters)
        -> std::unique_ptr<Encoding> { return std::make_unique<Dape>(arguments, shape, parameters); }};

}  // namespace lengthwise
