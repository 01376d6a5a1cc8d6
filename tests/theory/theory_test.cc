#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "core/error.h"
#include "theory/construction.h"
#include "theory/fourier_code.h"
#include "theory/position_curve.h"

namespace lengthwise {
namespace {

double value_of(const Finding& finding, const std::string& name) {
  for (const auto& [key, value] : finding.values) {
    if (key == name) return value;
  }
  ADD_FAILURE() << finding.construction << " has no value " << name;
  return 0;
}

std::string words(const Finding& finding) {
  return finding.construction + ", " + finding.decoder + ", " + finding.precision + ", length " +
         std::to_string(finding.length) + ", error " + std::to_string(finding.max_error);
}

class EveryConstruction : public testing::TestWithParam<Construction> {};

TEST_P(EveryConstruction, IsAsPredicted) {
  TheoryOptions options;
  options.length = 48;
  options.precisions = {"fp64", "fp32"};
  options.decoders = {"norm-free", "tiny"};
  const std::vector<Finding> findings = GetParam().measure(options);
  EXPECT_FALSE(findings.empty());
  for (const Finding& finding : findings) {
    EXPECT_TRUE(finding.as_predicted) << words(finding);
    EXPECT_EQ(finding.construction, GetParam().name);
    EXPECT_TRUE(std::isfinite(finding.max_error));
  }
}

INSTANTIATE_TEST_SUITE_P(Theory, EveryConstruction, testing::ValuesIn(constructions()), [](const auto& info) {
  std::string name = info.param.name;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

TEST(Absolute, IsExactInDoublePrecisionInEveryDecoder) {
  const TheoryOptions options{.length = 64, .precisions = {"fp64"}};
  for (const char* name : {"absolute", "relative", "alibi-head"}) {
    std::map<std::string, double> errors;
    for (const Finding& finding : find_construction(name).measure(options)) {
      EXPECT_LT(finding.max_error, 1e-10) << words(finding);
      errors[finding.decoder] = finding.max_error;
    }
    EXPECT_EQ(errors.size(), 3U) << name;
  }
}

TEST(AbsoluteLong, ReachesThreeThousandTokens) {
  const TheoryOptions options{.length = 3000, .precisions = {"fp64"}};
  for (const char* name : {"absolute", "relative"}) {
    const std::vector<Finding> findings = find_construction(name).measure(options);
    EXPECT_EQ(findings.size(), 2U) << "norm-free and base; tiny has 512 units";
    for (const Finding& finding : findings) EXPECT_LT(finding.max_error, 1e-6) << words(finding);
  }
}

TEST(Controls, MissThePositionByFar) {
  const TheoryOptions options{.length = 64};
  for (const char* name : {"no-mask", "no-first", "first-twice", "norm-added"}) {
    for (const Finding& finding : find_construction(name).measure(options)) {
      EXPECT_GT(finding.max_error, 5) << words(finding);
      EXPECT_LT(value_of(finding, "from_prediction"), 1e-10) << words(finding);
    }
  }
}

TEST(SharpHeads, NoPECannotInItsFirstLayerAndCanInItsSecond) {
  const TheoryOptions options{.length = 128, .precisions = {"fp64"}};
  std::map<std::string, double> weight;
  for (const Finding& finding : find_construction("previous-head").measure(options)) {
    if (finding.length == 128) weight[finding.decoder] = value_of(finding, "least_on_target");
  }
  EXPECT_LT(weight["nope, layer 1"], 0.01);
  EXPECT_GT(weight["nope, layer 2"], 0.98);
  EXPECT_GT(weight["rope, layer 1"], 0.98);
  EXPECT_LT(weight["alibi, layer 1"], 0.5) << "its nearest key is the query itself";
}

TEST(PositionCurve, ComesAsNearAsItsFormulaSays) {
  for (const int64_t length : {10, 100, 1000}) {
    for (const int64_t pieces : {1, 3, 10}) {
      const double bound = std::pow((std::sqrt(static_cast<double>(length)) - 1) / static_cast<double>(pieces), 2) / 2;
      EXPECT_LE(curve_error(even_curve(length, pieces), length), bound * (1 + 1e-12));
    }
  }
  EXPECT_EQ(units_needed(1000000, 0.5), 1000) << "999 pieces: an error of one half";
  EXPECT_EQ(length_reached(1000, 0.5), 1000000);
  EXPECT_EQ(units_needed(8, 1e-9), 8) << "never more than the exact construction";
}

TEST(PositionCurve, NeedsFarFewerUnitsInTwoLayers) {
  const TwoLayers two = two_layers_needed(65536, 0.01);
  EXPECT_LE(two.error, 0.01);
  EXPECT_LT(two.first + two.second, units_needed(65536, 0.01) / 2);
}

TEST(FourierCode, HasNoSecondPeak) {
  const FourierCode code = sharp_code(16, 512);
  EXPECT_DOUBLE_EQ(mean_cosine(code, 0), 1);
  for (int64_t distance = 1; distance < 512; ++distance) EXPECT_LT(mean_cosine(code, distance), 0.75) << distance;
}

TEST(Constructions, AreFoundByNameOrSuggested) {
  EXPECT_STREQ(find_construction("absolute").name, "absolute");
  try {
    find_construction("absolut");
    FAIL();
  } catch (const UserError& error) {
    EXPECT_NE(std::string(error.what()).find("did you mean 'absolute'?"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace lengthwise
