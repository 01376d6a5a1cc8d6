// Biases by distance, and FIRE's by pairs of positions, against published numbers and against each other.
#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <gtest/gtest.h>

#include <cmath>

#include "core/error.h"
#include "positional/formulas.h"
#include "positional/named.h"

namespace lengthwise {
namespace {

/// An encoding with its parameters, in double.
struct Made {
  Made(const std::string& text, int64_t heads, int64_t layers = 1)
      : encoding(
            make_encoding(read_encoding(text),
                          {.layers = layers, .heads = heads, .head_dim = 4, .width = 4 * heads, .type = at::kDouble},
                          {parameters, "encoding."})) {
    parameters.allocate(at::kDouble, Rng(1));
  }

  void set(const std::string& name, const at::Tensor& value) {
    at::NoGradGuard no_grad;
    for (Parameter& parameter : parameters.all()) {
      if (parameter.name != "encoding." + name) continue;
      parameter.value.copy_(value);
      return;
    }
    FAIL() << "no parameter " << name;
  }

  at::Tensor table(int64_t distances, int64_t layer = 0) const {
    EncodingContext context;
    context.distances = distances;
    return encoding->layer(layer, context).table.detach();
  }

  Parameters parameters;
  std::unique_ptr<Encoding> encoding;
};

void expect_near(const at::Tensor& one, const at::Tensor& other, double tolerance = 1e-12) {
  ASSERT_EQ(one.sizes(), other.sizes());
  EXPECT_LE((one - other).abs().max().item<double>(), tolerance);
}

at::Tensor numbers(const std::vector<double>& values) {
  return at::tensor(values, at::kDouble);
}

TEST(KerpleLog, IsALogarithmOfTheDistance) {
  Made kerple("kerple-log", 2);
  // softplus(ln(e - 1)) = 1, softplus(ln(e^2 - 1)) = 2
  kerple.set("rate", numbers({std::log(std::expm1(1.0)), std::log(std::expm1(2.0))}));
  kerple.set("factor", numbers({std::log(std::expm1(2.0)), std::log(std::expm1(1.0))}));
  const at::Tensor table = kerple.table(50);
  for (const int64_t m : {0, 1, 7, 49}) {
    EXPECT_NEAR(table[0][m].item<double>(), -2 * std::log(1 + static_cast<double>(m)), 1e-12) << m;
    EXPECT_NEAR(table[1][m].item<double>(), -std::log(1 + 2 * static_cast<double>(m)), 1e-12) << m;
  }
}

TEST(KerpleLog, StartsSpreadOverTheRangesOfTheReleasedCode) {
  const at::Tensor table = Made("kerple-log", 4).table(2);
  for (int64_t h = 0; h < 4; ++h) {
    const double middle = (static_cast<double>(h) + 0.5) / 4;
    EXPECT_NEAR(table[h][1].item<double>(), -2 * middle * std::log(1 + middle), 1e-12) << h;
  }
}

TEST(KerplePower, StartsSpreadOverTheRangesOfTheReleasedCode) {
  const at::Tensor table = Made("kerple-power", 4).table(9);
  for (int64_t h = 0; h < 4; ++h) {
    const double middle = (static_cast<double>(h) + 0.5) / 4;
    EXPECT_NEAR(table[h][8].item<double>(), -middle * std::pow(8, 2 * middle), 1e-10) << h;
    EXPECT_EQ(table[h][0].item<double>(), 0);
  }
}

TEST(KerplePower, IsAlibiWhereTheExponentIsOne) {
  Made kerple("kerple-power", 3);
  kerple.set("factor", (numbers(alibi_slopes(3)).expm1()).log());
  kerple.set("exponent", at::zeros({3}, at::kDouble));
  expect_near(kerple.table(64), Made("alibi", 3).table(64));
}

TEST(KerplePower, HasAGradientOfItsExponentAtDistanceZero) {
  Made kerple("kerple-power", 2);
  EncodingContext context;
  context.distances = 5;
  kerple.encoding->layer(0, context).table.sum().backward();
  EXPECT_TRUE(at::isfinite(kerple.parameters.gradients()).all().item<bool>());
  EXPECT_GT(kerple.parameters.gradients().abs().max().item<double>(), 0);
}

TEST(Bam, StartsAsAlibiAndIsItForAnExponentOfOne) {
  for (const int64_t heads : {1, 8, 12}) {
    Made bam("bam", heads);
    expect_near(bam.table(100), Made("alibi", heads).table(100), 1e-11);
    bam.set("log_exponent", at::full({heads}, std::log(0.5), at::kDouble));
    EXPECT_GT((bam.table(100) - Made("alibi", heads).table(100)).abs().max().item<double>(), 0.1);
  }
}

TEST(Bam, TakesTheExponentItIsGiven) {
  const at::Tensor table = Made("bam(exponent=0.5)", 8).table(17);
  EXPECT_NEAR(table[0][16].item<double>(), -0.5 * 4, 1e-12);
  EXPECT_NEAR(table[1][9].item<double>(), -0.25 * 3, 1e-12);
  EXPECT_THROW(Made("bam(exponent=0)", 2), UserError);
}

TEST(Sandwich, FollowsThePublishedCurve) {
  // With eight heads the first is divided by 1 and the last by 8.
  const at::Tensor table = Made("sandwich", 8).table(1025);
  const std::vector<std::pair<int64_t, double>> known{{0, 0},          {1, -1.9063},    {2, -6.6181},
                                                      {4, -15.4140},   {16, -24.2983},  {64, -33.4799},
                                                      {256, -43.4752}, {1024, -50.9157}};
  for (const auto& [m, value] : known) {
    EXPECT_NEAR(table[0][m].item<double>(), value, 5e-5) << m;
    EXPECT_NEAR(table[7][m].item<double>(), value / 8, 1e-5) << m;
  }
}

TEST(Sandwich, IsTheProductOfSinusoids) {
  const at::Tensor rows = sinusoids(at::arange(20, at::kLong), 16);
  const at::Tensor products = at::matmul(rows, rows.t());
  const at::Tensor table = Made("sandwich(dims=16)", 8).table(20);
  for (const int64_t i : {5, 19}) {
    for (const int64_t j : {0, 3, 5}) {
      EXPECT_NEAR(table[0][i - j].item<double>(), products[i][j].item<double>() - 8, 1e-12);
    }
  }
  EXPECT_THROW(Made("sandwich(dims=15)", 2), UserError);
}

TEST(RetNet, DecaysByGammaForEachToken) {
  const at::Tensor factors = Made("retnet", 4).table(33).exp();
  for (int64_t h = 0; h < 4; ++h) {
    const double gamma = 1 - std::exp2(-5.0 - static_cast<double>(h));
    for (const int64_t m : {0, 1, 32}) {
      EXPECT_NEAR(factors[h][m].item<double>(), std::pow(gamma, static_cast<double>(m)), 1e-12) << h << " " << m;
    }
  }
}

/// By head, how many distances it sees.
std::vector<int64_t> seen_by_heads(const std::string& text, int64_t heads) {
  const at::Tensor table = Made(text, heads).table(30);
  EXPECT_TRUE(((table == 0) | (table == -1e9)).all().item<bool>());
  std::vector<int64_t> seen;
  for (int64_t h = 0; h < heads; ++h) {
    seen.push_back((table[h] == 0).sum().item<int64_t>());
    EXPECT_TRUE((table[h].narrow(0, 0, seen.back()) == 0).all().item<bool>()) << "nearest first";
  }
  return seen;
}

TEST(HardAlibi, HasWindowsInTheFirstHalfOfTheHeads) {
  EXPECT_EQ(seen_by_heads("hard-alibi", 8), (std::vector<int64_t>{1, 2, 3, 4, 30, 30, 30, 30}));
  EXPECT_EQ(seen_by_heads("hard-alibi", 3), (std::vector<int64_t>{1, 2, 30}));
  EXPECT_EQ(seen_by_heads("hard-alibi(share=0.25)", 4), (std::vector<int64_t>{1, 30, 30, 30}));
}

TEST(HardAlibi, LeavesOneHeadThatSeesAll) {
  EXPECT_EQ(seen_by_heads("hard-alibi", 1), (std::vector<int64_t>{30}));
  EXPECT_EQ(seen_by_heads("hard-alibi(share=1)", 4), (std::vector<int64_t>{1, 2, 3, 30}));
  EXPECT_EQ(seen_by_heads("hard-alibi(share=0)", 2), (std::vector<int64_t>{30, 30}));
}

TEST(T5PerLayer, IsT5WithTheTableOfTheLayer) {
  Made layers("t5-per-layer", 3, 2);
  EXPECT_NE(layers.encoding->variant(0), layers.encoding->variant(1));
  Made one("t5", 3, 2);
  EXPECT_EQ(one.encoding->variant(0), one.encoding->variant(1));
  for (const int64_t layer : {0, 1}) {
    one.set("relative_bias", layers.parameters.all()[static_cast<size_t>(layer)].value.detach());
    EXPECT_TRUE(at::equal(one.table(200), layers.table(200, layer))) << layer;
  }
  EXPECT_FALSE(at::equal(layers.table(200, 0), layers.table(200, 1)));
}

TEST(T5PerLayer, IsAMixtureOfAsManyT5AsLayers) {
  Made layers("t5-per-layer", 3, 2);
  Made mixture("layers(t5,t5)", 3, 2);
  mixture.set("0.relative_bias", layers.parameters.all()[0].value.detach());
  mixture.set("1.relative_bias", layers.parameters.all()[1].value.detach());
  for (const int64_t layer : {0, 1}) EXPECT_TRUE(at::equal(mixture.table(40, layer), layers.table(40, layer)));
}

TEST(Shaw, ClipsDistancesAndSharesKeysAmongHeads) {
  Made shaw("shaw(clip=4)", 3, 2);
  const at::Tensor rows = shaw.parameters.all()[1].value.detach();
  ASSERT_EQ(rows.sizes(), (std::vector<int64_t>{5, 4}));
  for (const int64_t distances : {1, 3, 4, 5, 9}) {
    EncodingContext context;
    context.distances = distances;
    const at::Tensor keys = shaw.encoding->layer(1, context).relative_keys.detach();
    ASSERT_EQ(keys.sizes(), (std::vector<int64_t>{3, distances, 4}));
    for (int64_t h = 0; h < 3; ++h) {
      for (int64_t m = 0; m < distances; ++m) EXPECT_TRUE(at::equal(keys[h][m], rows[std::min<int64_t>(m, 4)]));
    }
  }
}

/// FIRE's bias of one pair, of head 0.
double fire_bias(const Made& fire, int64_t query, int64_t key) {
  EncodingContext context;
  context.query_positions = at::full({1, 1}, query, at::kLong);
  context.key_positions = at::full({1, 1}, key, at::kLong);
  const at::Tensor dense = fire.encoding->layer(0, context).dense.detach();
  EXPECT_EQ(dense.sizes(), (std::vector<int64_t>{1, 2, 1, 1}));
  return dense[0][0][0][0].item<double>();
}

/// With a network that only hands its argument on.
void show_argument(Made& fire) {
  fire.set("in", at::ones({1}, at::kDouble));
  fire.set("in_bias", at::zeros({1}, at::kDouble));
  fire.set("out", at::ones({1, 2}, at::kDouble));
}

TEST(Fire, ShowsItsNetworkTheDistanceAsAShareOfThePosition) {
  Made fire("fire(hidden=1,threshold=512)", 2);
  show_argument(fire);
  EXPECT_NEAR(fire_bias(fire, 10, 0), 0.17525, 1e-5);
  EXPECT_NEAR(fire_bias(fire, 10, 9), 0.02410, 1e-5);
  EXPECT_NEAR(fire_bias(fire, 511, 0), 0.99951, 1e-5);
  EXPECT_NEAR(fire_bias(fire, 1023, 0), 1, 1e-5);
  EXPECT_NEAR(fire_bias(fire, 1023, 1022), 0.02055, 1e-5);
}

TEST(Fire, DependsOnTheDistanceAloneUpToItsThreshold) {
  Made fire("fire(hidden=1)", 2);
  show_argument(fire);
  EXPECT_EQ(fire_bias(fire, 10, 3), fire_bias(fire, 32, 25));
  EXPECT_GT(fire_bias(fire, 32, 25), fire_bias(fire, 33, 26));
  fire.set("threshold", at::full({1}, 2.0, at::kDouble));
  EXPECT_EQ(fire_bias(fire, 33, 26), fire_bias(fire, 64, 57));
}

TEST(Fire, StopsToSqueezeWhereItIsTold) {
  Made fire("fire(hidden=1)", 2), stopped("fire(hidden=1,until=47)", 2);
  show_argument(fire);
  show_argument(stopped);
  for (const int64_t query : {10, 33, 47}) EXPECT_EQ(fire_bias(stopped, query, 3), fire_bias(fire, query, 3));
  // What the last query saw before the scale stopped is what all see from there on.
  for (const int64_t query : {48, 64, 500}) {
    for (const int64_t distance : {0, 1, 17, 47}) {
      EXPECT_EQ(fire_bias(stopped, query, query - distance), fire_bias(fire, 47, 47 - distance));
    }
    EXPECT_LT(fire_bias(fire, query, query - 17), fire_bias(stopped, query, query - 17));
  }
}

}  // namespace
}  // namespace lengthwise
