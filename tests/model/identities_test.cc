// Encodings that are another one with some of their options, or before they have learned.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "model/plain_decoder.h"
#include "tests/model/test_model.h"

namespace lengthwise {
namespace {

using testing_model::random_batch;
using testing_model::small_config;

using Pair = std::pair<std::string, std::string>;

class Identities : public testing::TestWithParam<Pair> {};

/// Both models, which have the same numbers in all they share, say the same.
TEST_P(Identities, Hold) {
  const Batch batch = random_batch({1, 9, 30, 17}, 4);
  const Decoder one(small_config(GetParam().first), 3, at::kDouble);
  const Decoder other(small_config(GetParam().second), 3, at::kDouble);
  const at::Tensor logits = plain_logits(one, batch).detach();
  const at::Tensor same = plain_logits(other, batch).detach();
  EXPECT_LE((logits - same).abs().max().item<double>(), 1e-11 * same.abs().max().item<double>());
}

INSTANTIATE_TEST_SUITE_P(
    Texts, Identities,
    testing::Values(Pair("dynamic-ntk", "rope"), Pair("dynamic-ntk(trained=30)", "rope"),
                    Pair("rerope(window=1000)", "rope"), Pair("rerope(window=4,leak=1)", "rope"),
                    Pair("self-extend(window=1000)", "rope"), Pair("self-extend(window=4,group=1)", "rope"),
                    Pair("tape", "rope(fraction=1)"), Pair("tape+t5", "rope(fraction=1)+t5"),
                    Pair("layers(tape,alibi)", "layers(rope(fraction=1),alibi)"), Pair("drope(rope)", "nope"),
                    Pair("drope(rope)+alibi", "alibi"), Pair("drope(path)", "nope"),
                    Pair("drope(rope,scale=0.412,trained=30)", "nope"), Pair("ssmax(of=all)", "ssmax")));

class Differences : public testing::TestWithParam<Pair> {};

TEST_P(Differences, AreSeen) {
  const Batch batch = random_batch({30}, 4);
  const Decoder one(small_config(GetParam().first), 3, at::kDouble);
  const Decoder other(small_config(GetParam().second), 3, at::kDouble);
  EXPECT_FALSE(at::allclose(plain_logits(one, batch), plain_logits(other, batch), 0, 1e-6));
}

INSTANTIATE_TEST_SUITE_P(Texts, Differences,
                         testing::Values(Pair("dynamic-ntk(trained=20)", "rope"), Pair("rerope(window=4)", "rope"),
                                         Pair("self-extend(window=4)", "rope"),
                                         Pair("rerope(window=4)+log-n(trained=20,least=1)", "rerope(window=4)"),
                                         Pair("drope(rope,scale=0.412,trained=20)", "nope"),
                                         Pair("rope-plus", "rope(fraction=1)"),
                                         Pair("bam+ssmax(of=all)", "bam+ssmax")));

}  // namespace
}  // namespace lengthwise
