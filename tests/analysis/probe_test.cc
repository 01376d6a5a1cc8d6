// Probes: what they find where something was planted, and that they find nothing where nothing is.
#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>

#include "analysis/probe_fits.h"
#include "analysis/ridge.h"
#include "core/rng.h"
#include "gpu/gpu.h"
#include "theory/position_code.h"

namespace lengthwise {
namespace {

at::Tensor random_rows(int64_t rows, int64_t features, uint64_t seed) {
  at::Tensor values = at::empty({rows, features}, at::kDouble);
  fill_normal(Rng(seed), 1, values.data_ptr<double>(), values.numel());
  return values;
}

TEST(Ridge, FindsALinearFunctionExactly) {
  const at::Tensor x = random_rows(200, 5, 1) * at::tensor({1.0, 100.0, 1e-3, 1.0, 0.0}, at::kDouble) + 3;
  const at::Tensor y = 2 * x.select(1, 0) - 0.5 * x.select(1, 1) + 300 * x.select(1, 2) + 7;
  const at::Tensor fresh = random_rows(50, 5, 2) * at::tensor({1.0, 100.0, 1e-3, 1.0, 0.0}, at::kDouble) + 3;
  const at::Tensor wanted = 2 * fresh.select(1, 0) - 0.5 * fresh.select(1, 1) + 300 * fresh.select(1, 2) + 7;
  const RidgeProbe probe = fit_ridge(x, y, fresh, wanted);
  EXPECT_LT((probe.predict(fresh) - wanted).abs().max().item<double>(), 1e-5);
  EXPECT_EQ(probe.penalty, 1e-9);
  EXPECT_EQ(probe.weights[4].item<double>(), 0);  // a constant feature
}

/// One feature: w = cov(x, y) / (1 + penalty) for a scaled x.
TEST(Ridge, ShrinksAsTheFormulaSays) {
  const at::Tensor x = random_rows(60, 1, 3) * 4 + 1;
  const at::Tensor y = x.select(1, 0) + random_rows(60, 1, 4).select(1, 0);
  const at::Tensor choose_x = random_rows(60, 1, 5) * 4 + 1;
  const RidgeProbe probe = fit_ridge(x, y, choose_x, at::full({60}, y.mean().item<double>(), at::kDouble));
  // Where the chosen labels have nothing to do with x the strongest penalty is best.
  EXPECT_EQ(probe.penalty, 10);
  const at::Tensor scaled = (x.select(1, 0) - x.mean()) / (x - x.mean()).square().mean().sqrt();
  const double covariance = (scaled * (y - y.mean())).mean().item<double>();
  EXPECT_NEAR(probe.weights[0].item<double>(), covariance / 11, 1e-12);
}

TEST(ProbeScores, AreOneForTheTruthAndZeroForTheMean) {
  const std::vector<double> labels{1, 2, 3, 4, 5, 6};
  const std::vector<int64_t> sequences{0, 0, 1, 1, 2, 2};
  const ProbeScore right = score_probe(labels, labels, sequences, 1);
  EXPECT_EQ(right.r2.value, 1);
  EXPECT_EQ(right.r2.low, 1);
  EXPECT_EQ(right.error.high, 0);
  EXPECT_EQ(right.sequences, 3);
  EXPECT_EQ(right.rows, 6);
  const ProbeScore mean = score_probe(labels, std::vector<double>(6, 3.5), sequences, 1);
  EXPECT_NEAR(mean.r2.value, 0, 1e-12);
  EXPECT_NEAR(mean.error.value, 1.5, 1e-12);
  // 1 - (1 + 4) / 17.5 by hand.
  EXPECT_NEAR(score_probe(labels, {2, 2, 3, 4, 5, 8}, sequences, 1).r2.value, 1 - 5 / 17.5, 1e-12);
  EXPECT_TRUE(std::isnan(score_probe({2, 2}, {2, 3}, {0, 1}, 1).r2.value));
}

TEST(ProbeScores, HaveIntervalsOverSequencesAndNotOverTokens) {
  // Two kinds of sequences of many tokens each: what varies is how many of each kind are drawn.
  std::vector<double> labels, predictions;
  std::vector<int64_t> sequences;
  for (int64_t s = 0; s < 20; ++s) {
    for (int64_t t = 0; t < 50; ++t) {
      labels.push_back(static_cast<double>(t));
      predictions.push_back(static_cast<double>(t + (s % 2 == 0 ? 0 : 4)));
      sequences.push_back(s);
    }
  }
  const Estimate error = score_probe(labels, predictions, sequences, 1).error;
  EXPECT_NEAR(error.value, 2, 1e-12);
  // 4 times a share of 20 coins: a deviation of 0.45.
  EXPECT_NEAR(error.low, 2 - 1.96 * 0.447, 0.25);
  EXPECT_NEAR(error.high, 2 + 1.96 * 0.447, 0.25);
}

TEST(NetworkProbe, LearnsWhatNoLinearProbeCan) {
  const at::Tensor x = random_rows(1500, 6, 1);
  const at::Tensor y = x.select(1, 0).abs() * 3 + 10;
  const at::Tensor states = x.to(at::kFloat).unsqueeze(0);
  const FeatureRows features = [&](const at::Tensor& rows) { return states.index_select(1, rows); };
  const at::Tensor fit = at::arange(1000);
  const at::Tensor choose = at::arange(1000, 1200);
  const at::Tensor test = at::arange(1200, 1500);
  const auto r2 = [&](const at::Tensor& predictions) {
    const at::Tensor wanted = y.index_select(0, test);
    return 1 - ((predictions - wanted).square().sum() / (wanted - wanted.mean()).square().sum()).item<double>();
  };
  const NetworkProbes probes(features, y, fit, choose, {});
  EXPECT_GT(r2(probes.predict(test)[0]), 0.95);
  const RidgeProbe ridge =
      fit_ridge(x.narrow(0, 0, 1000), y.narrow(0, 0, 1000), x.narrow(0, 1000, 200), y.narrow(0, 1000, 200));
  EXPECT_LT(r2(ridge.predict(x.narrow(0, 1200, 300))), 0.1);
  const NetworkProbes again(features, y, fit, choose, {});
  EXPECT_TRUE(at::equal(probes.predict(test), again.predict(test)));
}

/// Random tokens behind a first one.
std::vector<InputGroup> random_groups(const std::vector<int64_t>& tokens, size_t sequences) {
  std::vector<InputGroup> groups;
  Rng rng = Rng(5).stream("groups");
  for (const int64_t count : tokens) {
    InputGroup group{Content::exchanged, count / 10, {}};
    for (size_t i = 0; i < sequences; ++i) {
      std::vector<int64_t> sequence{Vocabulary::kBos};
      for (int64_t t = 1; t < count; ++t) sequence.push_back(rng.between(3, 18));
      group.sequences.push_back({sequence, 1});
    }
    groups.push_back(group);
  }
  return groups;
}

TEST(ProbeRows, DivideSequencesAndNeverTokens) {
  const std::vector<InputGroup> groups = random_groups({30, 60}, 10);
  const std::vector<ProbePlace> places = sample_places(groups, 12, 1);
  EXPECT_EQ(places.size(), 2U * 10U * 12U);
  std::set<std::pair<size_t, int64_t>> once;
  for (const ProbePlace& place : places) {
    EXPECT_GT(place.place, 0);
    EXPECT_EQ(place.token, groups[place.group].sequences[place.sequence].tokens[static_cast<size_t>(place.place)]);
    EXPECT_TRUE(once.emplace(place.group * 100 + place.sequence, place.place).second);
  }
  AnalysisInputs inputs;
  inputs.trained_length = 3;
  inputs.trained_tokens = 30;
  for (const ProbeTarget& target : {position_target(places), distance_target(places, 1)}) {
    const ProbeSplit split(inputs, groups, places, target);
    const auto sequences_of = [&](const std::vector<int64_t>& rows) {
      std::set<std::pair<size_t, size_t>> found;
      for (const int64_t row : rows) {
        const ProbePlace& place = places[static_cast<size_t>(target.later[static_cast<size_t>(row)])];
        found.emplace(place.group, place.sequence);
      }
      return found;
    };
    const auto fit = sequences_of(split.rows(ProbePart::fit, true));
    const auto choose = sequences_of(split.rows(ProbePart::choose, true));
    EXPECT_EQ(fit.size(), 10U);
    EXPECT_EQ(choose.size(), 4U);
    ASSERT_EQ(split.cells().size(), 2U);
    EXPECT_EQ(split.cells()[0].where, "inside");
    EXPECT_EQ(split.cells()[1].where, "beyond");
    for (const ProbeSplit::Cell& cell : split.cells()) {
      const auto tested = sequences_of(cell.rows);
      EXPECT_EQ(tested.size(), 3U);
      for (const auto& sequence : tested) {
        EXPECT_FALSE(fit.contains(sequence));
        EXPECT_FALSE(choose.contains(sequence));
      }
    }
    for (const int64_t row : split.cells()[1].rows)
      EXPECT_GE(places[static_cast<size_t>(target.later[static_cast<size_t>(row)])].place, 30);
    for (const auto& [group, sequence] : sequences_of(split.rows(ProbePart::fit, false))) EXPECT_EQ(group, 0U);
  }
  const ProbeTarget pairs = distance_target(places, 1);
  for (size_t row = 0; row < pairs.size(); ++row) {
    const ProbePlace& later = places[static_cast<size_t>(pairs.later[row])];
    const ProbePlace& earlier = places[static_cast<size_t>(pairs.earlier[row])];
    EXPECT_EQ(later.sequence, earlier.sequence);
    EXPECT_EQ(later.group, earlier.group);
    EXPECT_EQ(pairs.labels[row], static_cast<double>(later.place - earlier.place));
    EXPECT_GT(pairs.labels[row], 0);
  }
}

// Wide enough for libraries to cut a decomposition into pieces for several threads.
TEST(SideBySide, LayersGiveWhatTheyGiveOneAfterTheOther) {
  AnalysisInputs inputs;
  inputs.trained_length = 3;
  inputs.trained_tokens = 30;
  const std::vector<InputGroup> groups = random_groups({30}, 24);
  const std::vector<ProbePlace> places = sample_places(groups, 24, 1);
  const ProbeTarget target = position_target(places);
  const ProbeSplit split(inputs, groups, places, target);
  const auto rows = static_cast<int64_t>(places.size());
  const at::Tensor states = random_rows(4 * rows, 768, 3).view({4, rows, 768}).to(at::kFloat);
  states.select(2, 0).copy_(at::tensor(target.labels, at::kDouble).unsqueeze(0));
  const int before = at::get_num_threads();
  const auto r2 = [&](int threads) {
    at::set_num_threads(threads);
    std::vector<double> found;
    for (const ProbeResult& result : fit_probes(target, split, states, {.steps = 1}))
      if (result.probe == "linear") found.push_back(result.score.r2.value);
    return found;
  };
  const std::vector<double> one = r2(1);
  const std::vector<double> four = r2(4);
  at::set_num_threads(before);
  ASSERT_EQ(one.size(), 4U);
  for (size_t i = 0; i < one.size(); ++i) {
    EXPECT_GT(one[i], 0.3);
    EXPECT_NEAR(four[i], one[i], 1e-6) << "layer " << i;
  }
}

class PlantedPositions : public testing::Test {
 protected:
  PlantedPositions() {
    ModelConfig config;
    config.layers = 2;
    config.width = 32;
    config.heads = 2;
    config.ff_width = 96;
    config.dropout = 0;
    decoder_ = std::make_unique<Decoder>(resolve(config, 19), 1);
    inputs_.trained_length = 3;
    inputs_.trained_tokens = 30;
  }

  void plant() {
    std::vector<double> places;
    for (int64_t t = 1; t <= 90; ++t) places.push_back(static_cast<double>(t));
    write_positions(*decoder_, Vocabulary::kBos, {{code_dims::position, places}});
  }

  /// R2 by probe, layer and place: "linear 1 inside".
  std::map<std::string, double> r2(const at::Tensor& states, const ProbeTarget& target, ProbeFit fit = {}) const {
    const ProbeSplit split(inputs_, groups_, places_, target);
    std::map<std::string, double> found;
    for (const ProbeResult& result : fit_probes(target, split, states, fit))
      found[result.probe + " " + std::to_string(result.layer) + " " + result.where] = result.score.r2.value;
    return found;
  }

  static constexpr ProbeFit kShort{.all = false, .shuffled = false, .steps = 20};
  std::unique_ptr<Decoder> decoder_;
  AnalysisInputs inputs_;
  std::vector<InputGroup> groups_ = random_groups({30, 60}, 24);
  std::vector<ProbePlace> places_ = sample_places(groups_, 24, 1);
};

// On a stream of the thread's own, as programs on a GPU run.
TEST_F(PlantedPositions, AreFoundInStatesOnAGpu) {
  if (!at::hasCUDA()) GTEST_SKIP() << "no GPU is present";
  use_own_gpu_stream();
  plant();
  Decoder on_gpu(decoder_->config(), 1, at::kFloat, at::kCUDA);
  {
    const at::NoGradGuard no_grad;
    at::Tensor values = on_gpu.parameters().values();
    values.copy_(decoder_->parameters().values());
  }
  const ProbeTarget position = position_target(places_);
  const auto expected = r2(collect_states(*decoder_, groups_, places_), position, kShort);
  auto found = r2(collect_states(on_gpu, groups_, places_), position, kShort);
  for (const auto& [which, value] : expected) {
    if (!which.starts_with("linear")) continue;
    EXPECT_NEAR(found[which], value, 1e-3 + 1e-2 * std::abs(value)) << which;
  }
}

TEST_F(PlantedPositions, AreFoundBehindTheFirstLayerAndNowhereElse) {
  plant();
  const at::Tensor states = collect_states(*decoder_, groups_, places_);
  ASSERT_EQ(states.size(0), 3);
  const ProbeTarget position = position_target(places_);
  auto found = r2(states, position);
  for (const char* layer : {"1", "2"}) {
    EXPECT_GT(found[std::string("linear ") + layer + " inside"], 0.9999);
    EXPECT_GT(found[std::string("linear ") + layer + " beyond"], 0.999);  // it extrapolates
    EXPECT_GT(found[std::string("nonlinear ") + layer + " inside"], 0.99);
  }
  auto token = r2(token_states(places_, at::kCPU), position, kShort);
  for (const char* probe : {"linear", "nonlinear"}) {
    EXPECT_LT(found[std::string(probe) + " 0 inside"], 0.1) << probe;
    EXPECT_LT(token[std::string(probe) + " 0 inside"], 0.1) << probe;
  }
  EXPECT_LT(r2(states, position, {.all = false, .shuffled = true, .steps = 20})["linear 1 inside"], 0.1);
  EXPECT_GT(r2(states, position, {.all = true, .shuffled = false, .steps = 20})["linear 1 beyond"], 0.9999);
}

TEST_F(PlantedPositions, GiveDistancesOfPairs) {
  plant();
  const at::Tensor states = collect_states(*decoder_, groups_, places_);
  const ProbeTarget distance = distance_target(places_, 1);
  auto found = r2(states, distance, kShort);
  EXPECT_GT(found["linear 1 inside"], 0.9999);
  EXPECT_GT(found["linear 2 beyond"], 0.999);
  EXPECT_LT(found["linear 0 inside"], 0.1);
  EXPECT_LT(r2(token_states(places_, at::kCPU), distance, kShort)["linear 0 inside"], 0.1);
}

TEST_F(PlantedPositions, AreNotInTheEmbeddingOfAnUntrainedModel) {
  auto found = r2(collect_states(*decoder_, groups_, places_), position_target(places_));
  ASSERT_TRUE(found.contains("linear 0 inside"));
  for (const char* probe : {"linear", "nonlinear"}) EXPECT_LT(found[std::string(probe) + " 0 inside"], 0.1) << probe;
}

}  // namespace
}  // namespace lengthwise
