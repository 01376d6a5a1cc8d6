// Encodings that depend on content, where they become something known: other encodings, or numbers that can be told.
#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <gtest/gtest.h>

#include <cmath>

#include "core/error.h"
#include "positional/named.h"

namespace lengthwise {
namespace {

constexpr int64_t kHeads = 2;
constexpr int64_t kDim = 4;

at::Tensor numbers(std::vector<int64_t> shape, const std::string& name) {
  at::Tensor x = at::empty(shape, at::kDouble);
  fill_normal(Rng(5).stream(name), 1.0, x.data_ptr<double>(), x.numel());
  return x;
}

PaddedHeads random_heads(int64_t tokens) {
  const at::Tensor positions = at::arange(tokens, at::kLong).unsqueeze(0);
  return {numbers({1, kHeads, tokens, kDim}, "q"),
          numbers({1, kHeads, tokens, kDim}, "k"),
          numbers({1, kHeads, tokens, kDim}, "v"),
          positions,
          positions,
          at::ones({1, 1, tokens, tokens}, at::kBool).tril()};
}

/// A one-layer encoding whose parameters can be set.
struct Made {
  explicit Made(const std::string& text)
      : encoding(make_encoding(read_encoding(text), {1, kHeads, kDim, 8, at::kDouble}, {parameters, ""})) {
    parameters.allocate(at::kDouble, Rng(1));
  }

  void set(const std::string& name, const at::Tensor& value) {
    const at::NoGradGuard no_grad;
    for (Parameter& parameter : parameters.all()) {
      if (parameter.name == name) {
        parameter.value.copy_(value);
        return;
      }
    }
    FAIL() << "no parameter " << name;
  }

  int64_t columns() const { return column_count(encoding->features(0)); }

  /// What it does with heads whose tokens say `features` [token, column].
  AttentionView attend(const PaddedHeads& heads, const at::Tensor& features = {}) const {
    EncodingContext context;
    context.positions = heads.key_positions[0];
    context.distances = heads.k.size(2);
    context.query_positions = heads.query_positions;
    context.key_positions = heads.key_positions;
    if (features.defined()) context.query_features = context.key_features = features.unsqueeze(0);
    const LayerValues values = encoding->layer(0, context);
    if (encoding->attends(0)) return encoding->attend(0, heads, values, context, 1.0, {});
    PaddedHeads turned = heads;
    if (values.query.cos.defined()) {
      turned.q = plain_rotate(heads.q, values.query.cos, values.query.sin);
      turned.k = plain_rotate(heads.k, values.query.cos, values.query.sin);
    }
    return plain_attention(turned, values, 1.0, {});
  }

  Parameters parameters;
  std::unique_ptr<Encoding> encoding;
};

void expect_same_attention(const AttentionView& a, const AttentionView& b, double tolerance = 1e-12) {
  EXPECT_LE((a.weights - b.weights).abs().max().item<double>(), tolerance);
  EXPECT_LE((a.out - b.out).abs().max().item<double>(), tolerance);
}

TEST(Forgetting, OfCableIsThatOfFoxWithTheSignTurned) {
  const PaddedHeads heads = random_heads(11);
  const at::Tensor gates = numbers({11, kHeads}, "gates");
  Made fox("fox"), cable("cable");
  fox.set("0.bias", at::tensor({0.3, -2.0}, at::kDouble));
  cable.set("0.bias", at::tensor({-0.3, 2.0}, at::kDouble));
  expect_same_attention(fox.attend(heads, gates), cable.attend(heads, -gates));
}

TEST(Forgetting, ByAConstantGateIsALinearBias) {
  const PaddedHeads heads = random_heads(9);
  Made fox("fox"), alibi("alibi-learned");
  const at::Tensor slopes = at::tensor({0.5, 0.01}, at::kDouble);
  fox.set("0.bias", -at::log(at::expm1(slopes)));  // where ln sigmoid is minus the slope
  alibi.set("log_slopes", slopes.log());
  expect_same_attention(fox.attend(heads, at::zeros({9, kHeads}, at::kDouble)), alibi.attend(heads));
}

TEST(Forgetting, HasTheHorizonsOfBothPublicStarts) {
  for (const auto& [text, horizon] : {std::pair{"fox", 2.0}, std::pair{"fox(bias=5)", 149.4}}) {
    const Made fox(text);
    EncodingContext context;
    context.key_features = at::zeros({1, 3, kHeads}, at::kDouble);
    const at::Tensor bias = fox.encoding->layer(0, context).key_bias;
    ASSERT_EQ(bias.sizes(), (std::vector<int64_t>{1, kHeads, 3}));
    const double kept = std::exp((bias[0][1][1] - bias[0][1][2]).item<double>());
    EXPECT_NEAR(1 / (1 - kept), horizon, 0.05) << text;
  }
}

TEST(Wall, WithoutItsGateIsNope) {
  const PaddedHeads heads = random_heads(21);
  const Made wall("wall(bias=1000)"), nope("nope");
  expect_same_attention(wall.attend(heads, numbers({21, wall.columns()}, "gates")), nope.attend(heads));
}

TEST(Wall, WithoutItsGateLeavesOtherBiasesAndWindows) {
  const PaddedHeads heads = random_heads(21);
  const Made wall("wall(bias=1000)+alibi+window(size=5)"), alibi("alibi+window(size=5)");
  expect_same_attention(wall.attend(heads, numbers({21, wall.columns()}, "gates")), alibi.attend(heads));
  const Made keys("wall+transformer-xl");
  EXPECT_THROW(keys.attend(heads, numbers({21, keys.columns()}, "gates")), UserError);
}

TEST(Wall, HalvesAtItsStartIn2067Tokens) {
  PaddedHeads heads = random_heads(2068);
  heads.q = at::zeros({1, kHeads, 1, kDim}, at::kDouble);
  heads.q.select(-1, 1).fill_(1);  // the last token's
  heads.k = at::ones_like(heads.k);
  heads.query_positions = heads.key_positions.narrow(1, 2067, 1);
  heads.allowed = heads.allowed.narrow(2, 2067, 1);
  const Made wall("wall");
  const at::Tensor scores = wall.attend(heads, at::zeros({2068, wall.columns()}, at::kDouble)).scores[0][1][0];
  EXPECT_NEAR(scores[2067].item<double>(), 1, 1e-15);
  EXPECT_NEAR(std::log(scores[2066].item<double>()), -3.354e-4, 5e-8);
  EXPECT_NEAR(scores[0].item<double>(), 0.5, 2e-4);
}

TEST(Wall, WithConstantGatesIsTheHyperbolicRotation) {
  // In light-cone coordinates; angle 1, decay 1.1, distance 3.
  PaddedHeads heads = random_heads(6);
  heads.q = heads.k = at::ones_like(heads.k);
  Made wall("wall");
  const at::Tensor decays = at::tensor({0.1, 2.1}, at::kDouble).repeat({kHeads * kDim / 2});
  wall.set("0.bias", -at::log(at::expm1(decays)));
  const at::Tensor scores = wall.attend(heads, at::zeros({6, wall.columns()}, at::kDouble)).scores;
  EXPECT_NEAR(scores[0][0][5][2].item<double>(), 2 * (.740818 + .00183630), 1e-6);
}

TEST(Wall, ForgetsAllAtOnceWithoutOverflow) {
  const PaddedHeads heads = random_heads(40);
  Made wall("wall");
  const at::Tensor gates = (400 * numbers({40, wall.columns()}, "gates")).requires_grad_();
  const at::Tensor scores = wall.attend(heads, gates).scores;
  const at::Tensor sums = at::log_sigmoid(gates + 8).cumsum(0).view({40, kHeads, kDim}).transpose(0, 1);
  const at::Tensor between = (sums.unsqueeze(2) - sums.unsqueeze(1)).clamp_max(0);
  const at::Tensor wanted =
      (heads.q[0].unsqueeze(2) * heads.k[0].unsqueeze(1) * between.exp()).sum(-1).masked_select(heads.allowed[0]);
  const at::Tensor found = scores[0].masked_select(heads.allowed[0]);
  EXPECT_LE((found - wanted).abs().max().item<double>(), 1e-11);
  found.sum().backward();
  EXPECT_TRUE(gates.grad().isfinite().all().item<bool>());
}

TEST(StickBreaking, HalvesTheStickWhereScoresAreZero) {
  PaddedHeads heads = random_heads(6);
  heads.q = at::zeros_like(heads.q);
  const at::Tensor kept = Made("stick-breaking").attend(heads).weights[0][1];
  const at::Tensor dropped = Made("stick-breaking(rest=drop)").attend(heads).weights[0][1];
  for (int64_t i = 0; i < 6; ++i) {
    for (int64_t j = 0; j < 6; ++j) {
      const double share = j < i ? std::exp2(static_cast<double>(j - i)) : 0;
      EXPECT_DOUBLE_EQ(dropped[i][j].item<double>(), share);
      EXPECT_DOUBLE_EQ(kept[i][j].item<double>(), j == i ? std::exp2(static_cast<double>(-i)) : share);
    }
  }
  EXPECT_THROW(Made("stick-breaking(rest=all)"), UserError);
}

TEST(StickBreaking, GivesAllToTheNearestKeyThatIsSure) {
  PaddedHeads heads = random_heads(30);
  heads.q = at::ones_like(heads.q);
  heads.k = at::full_like(heads.k, -300);
  heads.k.select(2, 7).fill_(300);
  heads.k.select(2, 19).fill_(300);
  const at::Tensor weights = Made("stick-breaking").attend(heads).weights[0][0];
  EXPECT_EQ(weights[5][5].item<double>(), 1);
  EXPECT_EQ(weights[19][7].item<double>(), 1);
  EXPECT_EQ(weights[29][19].item<double>(), 1);
  EXPECT_EQ(Made("stick-breaking+window(size=8)").attend(heads).weights[0][0][29][29].item<double>(), 1);
}

TEST(Contextual, CountsKeysWhereEveryGateIsOpen) {
  PaddedHeads heads = random_heads(12);
  heads.q = at::full_like(heads.q, 5);
  heads.k = at::full_like(heads.k, 5);
  Made cope("cope(positions=8)");
  const at::Tensor vectors = numbers({8, kDim}, "vectors");
  cope.set("0.positions", vectors);
  const at::Tensor scores = cope.attend(heads).scores[0][1];
  for (int64_t i = 0; i < 12; ++i) {
    for (int64_t j = 0; j <= i; ++j) {
      const double bias = 5 * vectors[std::min<int64_t>(i - j + 1, 7)].sum().item<double>();
      EXPECT_NEAR(scores[i][j].item<double>(), 100 + bias, 1e-9) << i << " " << j;
    }
  }
}

TEST(Dape, IsItsBaseWhereTheNetworkSaysNothing) {
  const PaddedHeads heads = random_heads(13);
  const Made alibi("alibi"), nope("nope");
  for (const auto& [text, base] :
       {std::pair{"dape", &alibi}, std::pair{"dape(base=none)", &nope}, std::pair{"dape(base=none)+alibi", &alibi}}) {
    Made dape(text);
    const std::string prefix = std::string(text).ends_with("+alibi") ? "dape." : "";
    dape.set(prefix + "0.out", at::zeros({32, kHeads}, at::kDouble));
    expect_same_attention(dape.attend(heads), base->attend(heads));
  }
  EXPECT_THROW(Made("dape(base=rope)"), UserError);
}

TEST(SelectiveRotation, ByOneForEachTokenIsRotary) {
  const PaddedHeads heads = random_heads(17);
  Made selective("selective-rope(rank=1)");
  selective.set("0.phases", at::ones({1, kHeads * kDim / 2}, at::kDouble));
  at::Tensor taps = at::zeros({4, kHeads * kDim / 2}, at::kDouble);
  taps[0].fill_(1);
  selective.set("0.convolution", taps);
  const Made rope("rope(fraction=1,base=500000)");
  expect_same_attention(selective.attend(heads, at::ones({17, 1}, at::kDouble)), rope.attend(heads));
}

TEST(Path, WithoutReflectionsIsNope) {
  const PaddedHeads heads = random_heads(15);
  Made path("path");
  path.set("0.bias", at::full({kHeads}, -1000, at::kDouble));
  expect_same_attention(path.attend(heads, numbers({15, path.columns()}, "features")), Made("nope").attend(heads));
}

TEST(Path, OfWholeReflectionsTellsOddFromEven) {
  const PaddedHeads heads = random_heads(15);
  Made path("path(rank=1)");
  path.set("0.bias", at::full({kHeads}, 1000, at::kDouble));
  const at::Tensor direction = numbers({kHeads, kDim}, "direction").abs();
  path.set("0.directions", direction.view({1, -1}));
  at::Tensor taps = at::zeros({3, kHeads * kDim}, at::kDouble);
  taps[0].fill_(1);
  path.set("0.convolution", taps);
  // So large that the sigmoid of SiLU is 1, and nothing is seen of the norm's epsilon.
  const at::Tensor scores = path.attend(heads, at::full({15, path.columns()}, 1e5, at::kDouble)).scores[0];
  const at::Tensor w = direction / direction.norm(2, -1, true);
  const at::Tensor straight = at::matmul(heads.q[0], heads.k[0].transpose(-1, -2));
  const at::Tensor along =
      at::matmul(heads.q[0], w.unsqueeze(-1)) * at::matmul(heads.k[0], w.unsqueeze(-1)).transpose(-1, -2);
  for (int64_t i = 0; i < 15; ++i) {
    for (int64_t j = 0; j <= i; ++j) {
      const at::Tensor wanted = (i - j) % 2 == 0 ? straight : straight - 2 * along;
      EXPECT_NEAR(scores[1][i][j].item<double>(), wanted[1][i][j].item<double>(), 1e-9) << i << " " << j;
    }
  }
}

}  // namespace
}  // namespace lengthwise
