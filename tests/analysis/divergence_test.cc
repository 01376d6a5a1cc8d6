// Divergences between heads: against numbers worked out independently (tests/golden/make_divergence.py), and what must
// hold of any.
#include "analysis/divergence.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "analysis/attention_pair.h"
#include "core/files.h"
#include "tests/model/test_model.h"

namespace lengthwise {
namespace {

using testing_model::shake;
using testing_model::small_config;

/// Logarithms of the shares of whole numbers [head][query][key].
at::Tensor logs_of(const nlohmann::json& heads) {
  std::vector<at::Tensor> rows;
  for (const auto& head : heads) {
    for (const auto& query : head) rows.push_back(at::tensor(query.get<std::vector<double>>(), at::kDouble));
  }
  const at::Tensor counts = at::stack(rows).view({static_cast<int64_t>(heads.size()), -1, rows.front().size(0)});
  return (counts / counts.sum(-1, true)).log();
}

TEST(Divergence, IsWhatWasWorkedOutIndependently) {
  const auto cases =
      nlohmann::json::parse(read_file(std::string(LENGTHWISE_SOURCE_DIR) + "/tests/golden/divergence.json"));
  ASSERT_GE(cases.size(), 5U);
  for (const auto& made : cases) {
    SCOPED_TRACE(made["name"].get<std::string>());
    const at::Tensor a = logs_of(made["a"]);
    const at::Tensor b = logs_of(made["b"]);
    for (const auto& [divergence, key] : {std::pair{Divergence::jensen_shannon, "jensen_shannon"},
                                          std::pair{Divergence::as_published, "as_published"}}) {
      const at::Tensor means = divergence_sums(a, b, divergence) / static_cast<double>(a.size(1));
      for (int64_t i = 0; i < a.size(0); ++i) {
        for (int64_t j = 0; j < b.size(0); ++j) {
          const auto& wanted = made[key][static_cast<size_t>(i)][static_cast<size_t>(j)];
          const double found = means[i][j].item<double>();
          if (wanted.is_null()) {
            EXPECT_TRUE(std::isinf(found)) << key << ' ' << i << ' ' << j;
          } else {
            EXPECT_NEAR(found, wanted.get<double>(), 1e-14) << key << ' ' << i << ' ' << j;
          }
        }
      }
      const std::string nearest = std::string("nearest_") + key;
      if (!made.contains(nearest) || made[nearest][0].is_null()) continue;
      const NearestHeads heads = nearest_heads(means, divergence);
      EXPECT_NEAR(heads.divergence, made[nearest][0].get<double>(), 1e-14);
      EXPECT_EQ(heads.head, made[nearest][1].get<int64_t>());
      EXPECT_EQ(heads.other_head, made[nearest][2].get<int64_t>());
    }
  }
}

TEST(Divergence, OfHeadsThatShareNoKeyIsTheLogarithmOfTwo) {
  const at::Tensor apart = divergence_sums(logs_of({{{1, 0}}}), logs_of({{{0, 1}}}), Divergence::jensen_shannon);
  EXPECT_DOUBLE_EQ(apart.item<double>(), std::log(2.0));
}

constexpr Divergence kBoth[] = {Divergence::jensen_shannon, Divergence::as_published};

TEST(AttentionPair, OfAModelWithItselfIsZero) {
  for (const std::string& encoding : encoding_names()) {
    Decoder decoder(small_config(encoding), 1);
    shake(decoder);
    const auto means = compare_attention(decoder, decoder, {1, 5, 7, 7, 3, 9, 2}, {kBoth[0], kBoth[1]});
    for (const auto& of_divergence : means) {
      ASSERT_EQ(of_divergence.size(), 2U);
      for (const at::Tensor& layer : of_divergence) {
        // Every head against itself, but for rounding; two different heads are apart.
        EXPECT_LE(layer.diagonal().abs().max().item<double>(), 1e-15) << encoding;
        EXPECT_GT(layer[0][1].item<double>(), 0) << encoding;
      }
    }
    EXPECT_EQ(nearest_heads(means[0][0], Divergence::jensen_shannon).divergence, 0) << encoding;
    EXPECT_GT(nearest_heads(means[1][0], Divergence::as_published).divergence, 0) << encoding;
  }
}

TEST(AttentionPair, IsSymmetricAndBounded) {
  Decoder a(small_config("nope"), 1);
  Decoder b(small_config("alibi"), 2);
  shake(a);
  shake(b);
  const std::vector<int64_t> tokens{1, 4, 4, 8, 2, 9, 11, 3, 5};
  const auto forth = compare_attention(a, b, tokens, {kBoth[0], kBoth[1]});
  const auto back = compare_attention(b, a, tokens, {kBoth[0], kBoth[1]});
  for (size_t d = 0; d < 2; ++d) {
    for (size_t layer = 0; layer < 2; ++layer)
      EXPECT_LE((forth[d][layer] - back[d][layer].t()).abs().max().item<double>(), 1e-12);
  }
  for (const at::Tensor& layer : forth[0]) {
    EXPECT_GE(layer.min().item<double>(), 0);
    EXPECT_LE(layer.max().item<double>(), std::log(2.0));
  }
}

TEST(AttentionPair, IsTheSameHoweverLittleIsHeld) {
  Decoder a(small_config("nope"), 1);
  Decoder b(small_config("t5"), 2);
  shake(a);
  shake(b);
  std::vector<int64_t> tokens;
  for (int64_t t = 0; t < 12; ++t) tokens.push_back((t * 7 + t * t) % 23);
  const auto whole = compare_attention(a, b, tokens, {kBoth[0]});
  // One layer at a time, some queries at a time, one query at a time.
  for (const int64_t held : {2 * 12 * 12, 2 * 12 * 5, 1}) {
    const auto pieces = compare_attention(a, b, tokens, {kBoth[0]}, held);
    for (size_t layer = 0; layer < 2; ++layer)
      EXPECT_LE((whole[0][layer] - pieces[0][layer]).abs().max().item<double>(), 1e-6) << held;
  }
}

}  // namespace
}  // namespace lengthwise
