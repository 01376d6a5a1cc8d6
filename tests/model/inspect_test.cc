// What is read through the opening into the model is what its engines compute, for every encoding.
#include "model/inspect.h"

#include <gtest/gtest.h>

#include "model/cpu_engine.h"
#include "model/plain_decoder.h"
#include "model/plain_layer.h"
#include "tests/model/test_model.h"

namespace lengthwise {
namespace {

using testing_model::random_batch;
using testing_model::shake;
using testing_model::small_config;

class InspectEveryEncoding : public testing::TestWithParam<std::string> {};

/// The residual stream behind the last layer, all tokens of the batch in a row.
at::Tensor last_states(const Decoder& decoder, const Batch& batch, Inspection inspection) {
  std::vector<at::Tensor> rows;
  inspection.layer = [&](const LayerView& view) {
    if (view.layer == decoder.config().layers - 1) rows.push_back(view.after);
  };
  inspect(decoder, batch, inspection);
  return at::cat(rows);
}

TEST_P(InspectEveryEncoding, GivesTheResidualStreamThatTheEnginesHave) {
  Decoder decoder(small_config(GetParam()), 1, at::kDouble);
  shake(decoder);
  const Batch batch = random_batch({1, 9, 2, 30, 17}, 4);
  const at::Tensor states = last_states(decoder, batch, {});
  const at::Tensor logits = plain_head(decoder, states.index_select(0, batch.loss_rows));
  const at::Tensor plain = plain_logits(decoder, batch);
  EXPECT_LE((logits - plain).abs().max().item<double>(), 1e-10 * plain.abs().max().item<double>());
  CpuEngine engine(decoder);
  const at::Tensor losses = engine.score(batch).losses;
  const at::Tensor wanted = -logits.log_softmax(-1).gather(-1, batch.targets.unsqueeze(-1)).squeeze(-1);
  EXPECT_LE((losses - wanted).abs().max().item<double>(), 1e-9);
}

TEST_P(InspectEveryEncoding, GivesTheAttentionThatThePlainDecoderHas) {
  Decoder decoder(small_config(GetParam()), 1, at::kDouble);
  shake(decoder);
  const std::vector<int64_t> lengths{1, 9, 2, 30, 17};
  const Batch batch = random_batch(lengths, 4);
  std::vector<AttentionView> plain;
  plain_logits(decoder, batch, {},
               [&](int64_t, const at::Tensor&, const AttentionView& view) { plain.push_back(view); });
  int64_t rows = 0;
  Inspection inspection;
  inspection.block = 100;  // several blocks of queries in the longer sequences
  inspection.attention = [&](const AttentionRows& view) {
    const int64_t count = view.weights.size(1);
    const int64_t keys = lengths[static_cast<size_t>(view.sequence)];
    const auto part = [&](const at::Tensor& all) {
      return all[view.sequence].narrow(1, view.first_query, count).narrow(2, 0, keys);
    };
    const AttentionView& whole = plain[static_cast<size_t>(view.layer)];
    EXPECT_LE((view.weights - part(whole.weights)).abs().max().item<double>(), 1e-12);
    const at::Tensor allowed = view.weights > 0;
    EXPECT_LE((view.scores - part(whole.scores)).masked_select(allowed).abs().max().item<double>(), 1e-10);
    EXPECT_LE((view.weights.sum(-1) - 1).abs().max().item<double>(), 1e-12);
    // No weight on a token that is still to come.
    const at::Tensor later =
        at::arange(keys).unsqueeze(0) > at::arange(view.first_query, view.first_query + count).unsqueeze(1);
    EXPECT_EQ(view.weights.masked_select(later.unsqueeze(0).expand_as(view.weights)).abs().sum().item<double>(), 0);
    rows += count;
  };
  inspect(decoder, batch, inspection);
  EXPECT_EQ(rows, 2 * batch.token_count());
}

TEST_P(InspectEveryEncoding, DoesNotDependOnTheBlock) {
  Decoder decoder(small_config(GetParam()), 2, at::kDouble);
  shake(decoder);
  const Batch batch = random_batch({30, 41}, 6);
  Inspection small;
  small.block = 1;
  const at::Tensor whole = last_states(decoder, batch, {});
  EXPECT_LE((whole - last_states(decoder, batch, small)).abs().max().item<double>(),
            1e-11 * whole.abs().max().item<double>());
}

TEST_P(InspectEveryEncoding, IsTheSameForOneSequenceAlone) {
  Decoder decoder(small_config(GetParam()), 2, at::kDouble);
  const Batch batch = random_batch({12, 7}, 6);
  const at::Tensor both = last_states(decoder, batch, {});
  const at::Tensor tokens = batch.tokens.narrow(0, 12, 7);
  const Batch alone = single_sequence({tokens.data_ptr<int64_t>(), tokens.data_ptr<int64_t>() + 7});
  EXPECT_TRUE(at::equal(both.narrow(0, 12, 7), last_states(decoder, alone, {})));
}

INSTANTIATE_TEST_SUITE_P(All, InspectEveryEncoding, testing::ValuesIn(encoding_names()), [](const auto& test) {
  std::string name = test.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

TEST(Inspect, ChainsLayersAndStopsWhereItIsTold) {
  Decoder decoder(small_config("nope"), 1, at::kDouble);
  const Batch batch = random_batch({5, 8}, 4);
  at::Tensor before;
  std::vector<std::pair<int64_t, int64_t>> seen;
  Inspection inspection;
  inspection.layer = [&](const LayerView& view) {
    seen.emplace_back(view.sequence, view.layer);
    if (view.layer > 0) {
      EXPECT_TRUE(at::equal(view.before, before));
    }
    before = view.after;
  };
  inspect(decoder, batch, inspection);
  EXPECT_EQ(seen, (std::vector<std::pair<int64_t, int64_t>>{{0, 0}, {0, 1}, {1, 0}, {1, 1}}));
  seen.clear();
  inspection.layers = 1;
  inspect(decoder, batch, inspection);
  EXPECT_EQ(seen, (std::vector<std::pair<int64_t, int64_t>>{{0, 0}, {1, 0}}));
}

}  // namespace
}  // namespace lengthwise
