// Heads: what is planted is recognised, slopes included, and a random model has none of it.
#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "analysis/distance_families.h"
#include "analysis/head_classes.h"
#include "analysis/head_maps.h"
#include "analysis/head_sums.h"
#include "core/rng.h"
#include "model/inspect.h"
#include "theory/construction.h"
#include "theory/position_code.h"

namespace lengthwise {
namespace {

constexpr int64_t kTokens = 48;

std::vector<std::vector<int64_t>> random_sequences(int64_t count, int64_t tokens = kTokens) {
  std::vector<std::vector<int64_t>> list;
  for (int64_t i = 0; i < count; ++i) list.push_back(random_sequence(tokens, 32, static_cast<uint64_t>(i) + 1));
  return list;
}

std::unique_ptr<Decoder> planted(const char* construction) {
  auto decoder = make_theory_decoder({.decoder = "tiny"}, kTokens);
  find_construction(construction).set(*decoder, {.length = kTokens});
  return decoder;
}

HeadMeasures measures_of(const HeadSums& sums, int64_t layer, int64_t head) {
  HeadMeasures measures;
  measures.offset = sums.offsets[layer][head].argmax().item<int64_t>();
  measures.offset_weight = sums.offsets[layer][head].max().item<double>();
  measures.first = sums.first[layer][head].item<double>();
  measures.near = sums.near[layer][head].item<double>();
  measures.uneven = sums.uneven[layer][head].item<double>();
  measures.survives = sums.survives[layer][head].item<double>();
  measures.near_if_uniform = 0.3;
  return measures;
}

TEST(PlantedHeads, AreRecognised) {
  struct Case {
    const char* construction;
    int64_t layer;
    const char* wanted;
  };
  for (const Case& one :
       {Case{"diagonal-head", 1, "diagonal"}, Case{"previous-head", 1, "previous"}, Case{"absolute", 0, "uniform"}}) {
    const HeadSums sums = sum_heads(*planted(one.construction), random_sequences(4));
    const HeadMeasures measures = measures_of(sums, one.layer, 0);
    EXPECT_EQ(classify_head(measures), one.wanted) << one.construction;
    EXPECT_GT(measures.survives, 0.99) << one.construction;
    EXPECT_TRUE(is_positional(one.wanted, one.wanted, measures.survives));
  }
}

TEST(PlantedHeads, HaveTheSlopeThatWasPlanted) {
  const HeadSums sums = sum_heads(*planted("alibi-head"), random_sequences(4));
  const std::vector<ProfileFit> fits = fit_families(sums.profile[1].narrow(1, 1, sums.profile.size(2) - 1), 1);
  EXPECT_EQ(fits[0].family, "linear");
  EXPECT_FALSE(fits[0].contested);
  EXPECT_NEAR(fits[0].slope, 0.25, 0.25 * 0.02);
  EXPECT_EQ(fits[1].family, "constant") << "a head of zeros";
  EXPECT_FALSE(fits[1].contested);
}

TEST(PlantedHeads, AreInNoRandomModel) {
  for (const char* model : {"tiny", "small"}) {
    ModelConfig config;
    config.model = model;
    const Decoder decoder(resolve(config, 32), 7, at::kFloat);
    const HeadSums sums = sum_heads(decoder, random_sequences(8));
    for (int64_t layer = 0; layer < decoder.config().layers; ++layer) {
      for (int64_t head = 0; head < decoder.config().heads; ++head) {
        const std::string found = classify_head(measures_of(sums, layer, head));
        EXPECT_TRUE(found == "diffuse" || found == "content") << model << " " << layer << " " << head << " " << found;
      }
    }
  }
}

/// Every number of HeadSums worked out from the rows themselves, for a random model.
TEST(HeadSums, AreMeansOverQueries) {
  ModelConfig config;
  config.encoding = "rope";
  const Decoder decoder(resolve(config, 32), 3, at::kDouble);
  const auto sequences = random_sequences(3, 20);
  const HeadSums sums = sum_heads(decoder, sequences);
  double first = 0, diagonal = 0, entropy = 0, distance = 0, uneven = 0, least = 1, queries = 0;
  for (const auto& sequence : sequences) {
    Inspection inspection;
    inspection.attention = [&](const AttentionRows& rows) {
      if (rows.layer != 1) return;
      for (int64_t i = kNear; i < 20; ++i) {
        const at::Tensor row = rows.weights[2][i];
        double h = 0, d = 0, u = 0;
        for (int64_t j = 0; j <= i; ++j) {
          const double w = row[j].item<double>();
          h -= w * std::log(w);
          d += w * static_cast<double>(i - j);
          u += std::abs(w - 1 / static_cast<double>(i + 1)) / 2;
        }
        first += row[0].item<double>();
        diagonal += row[i].item<double>();
        least = std::min(least, row[i].item<double>());
        entropy += h / std::log(static_cast<double>(i + 1));
        distance += d / static_cast<double>(i);
        uneven += u;
        queries += 1;
      }
    };
    inspect(decoder, single_sequence(sequence), inspection);
  }
  EXPECT_NEAR(sums.first[1][2].item<double>(), first / queries, 1e-12);
  EXPECT_NEAR(sums.offsets[1][2][0].item<double>(), diagonal / queries, 1e-12);
  EXPECT_NEAR(sums.least[1][2][0].item<double>(), least, 1e-12);
  EXPECT_NEAR(sums.entropy[1][2].item<double>(), entropy / queries, 1e-12);
  EXPECT_NEAR(sums.distance[1][2].item<double>(), distance / queries, 1e-12);
  EXPECT_NEAR(sums.uneven[1][2].item<double>(), uneven / queries, 1e-12);
}

TEST(HeadSums, TellContentFromPosition) {
  // Keys and queries of the same content agree: a head that looks for its own token.
  auto decoder = make_theory_decoder({.decoder = "tiny"}, kTokens);
  write_positions(*decoder, kFirstToken, {{code_dims::position, {1}}});
  std::vector<HeadEntry> same;
  for (int64_t bit = 0; bit < content_bits(*decoder); ++bit) same.push_back({content_begin(*decoder) + bit, bit, 6});
  set_projection(*decoder, 0, 0, Projection::query, same);
  set_projection(*decoder, 0, 0, Projection::key, same);
  const HeadSums sums = sum_heads(*decoder, random_sequences(8));
  EXPECT_LT(sums.survives[0][0].item<double>(), 0.8);
  EXPECT_NEAR(sums.survives[0][1].item<double>(), 1, 1e-9);
}

TEST(Induction, IsTheWeightBehindTheFirstOccurrence) {
  // A T5 table that is high at one distance: block - 1.
  auto decoder = make_theory_decoder({.decoder = "tiny", .encoding = "t5"}, kTokens);
  constexpr int64_t kBlock = 9;
  {
    const at::NoGradGuard no_grad;
    for (const Parameter* parameter : decoder->encoding_parameters()) {
      parameter->value.zero_();
      parameter->value[kBlock - 1].fill_(50);
    }
  }
  std::vector<int64_t> sequence{kFirstToken};
  for (int64_t twice = 0; twice < 2; ++twice) {
    for (int64_t i = 0; i < kBlock; ++i) sequence.push_back(i + 2);
  }
  const at::Tensor scores = induction_scores(*decoder, {sequence});
  EXPECT_NEAR(scores.min().item<double>(), 1, 1e-6);
}

at::Tensor profile(const std::function<double(double)>& f, int64_t distances, double noise = 0) {
  at::Tensor values = at::empty({1, distances}, at::kDouble);
  std::vector<double> drawn(static_cast<size_t>(distances));
  fill_normal(Rng(5), noise, drawn.data(), distances);
  for (int64_t d = 0; d < distances; ++d) values[0][d] = f(static_cast<double>(d + 1)) + drawn[static_cast<size_t>(d)];
  return values;
}

TEST(Families, AreToldApart) {
  struct Case {
    const char* wanted;
    std::function<double(double)> f;
  };
  const std::vector<Case> cases{
      {"linear", [](double d) { return -0.12 * d; }},
      {"square", [](double d) { return -0.002 * d * d; }},
      {"log", [](double d) { return -1.5 * std::log1p(0.9 * d); }},
      {"power", [](double d) { return -0.8 * std::pow(d, 0.45); }},
      {"exponentials", [](double d) { return 4 * std::exp(-d / 2) + 3 * std::exp(-d / 25); }},
      {"damped", [](double d) { return 3 * std::exp(-d / 30) * std::cos(0.7 * d); }},
      {"cosines", [](double d) { return std::cos(0.25 * d) + std::cos(0.9 * d) + std::cos(2.2 * d); }},
  };
  for (const Case& one : cases) {
    const ProfileFit fit = fit_families(profile(one.f, 96, 0.01), 1).front();
    EXPECT_EQ(fit.family, one.wanted);
    EXPECT_GT(fit.held_out_r2, 0.98) << one.wanted;
    ASSERT_EQ(fit.fitted.size(), 96U);
    double error = 0, squares = 0;
    for (size_t i = 0; i < fit.fitted.size(); ++i) {
      const double right = one.f(static_cast<double>(i + 1));
      error += (fit.fitted[i] - right) * (fit.fitted[i] - right);
      squares += right * right;
    }
    EXPECT_LT(error, 0.02 * squares) << one.wanted << " is drawn where it is";
  }
}

TEST(Families, ANoisyProfileIsFlat) {
  const ProfileFit fit = fit_families(profile([](double) { return 2.0; }, 96, 0.05), 1).front();
  EXPECT_EQ(fit.family, "constant");
  EXPECT_NEAR(fit.slope, 0, 0.002);
}

TEST(HeadMaps, HoldTheLargestWeightOfTheirCells) {
  const auto decoder = planted("diagonal-head");
  const Json maps = head_maps(*decoder, random_sequence(kTokens, 32, 2));
  EXPECT_EQ(maps["side"].get<int64_t>(), kTokens);
  EXPECT_EQ(maps["maps"].size(), 2U);
  EXPECT_EQ(maps["maps"][0].size(), 4U);
  // 48 x 48 bytes in groups of three.
  EXPECT_EQ(maps["maps"][1][0].get<std::string>().size(), 48U * 48 / 3 * 4);
  const Json long_maps = head_maps(*decoder, random_sequence(200, 32, 2));
  EXPECT_EQ(long_maps["side"].get<int64_t>(), kMapSide);
  EXPECT_EQ(long_maps["tokens"].get<int64_t>(), 200);
}

}  // namespace
}  // namespace lengthwise
