// Recurrent networks as models: sizes, options, independence of sequences, and states that are kept.
#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <gtest/gtest.h>

#include "core/error.h"
#include "model/architectures.h"
#include "model/decoder.h"
#include "tests/core/mistake.h"
#include "tests/model/test_model.h"

namespace lengthwise {
namespace {

using testing_model::random_batch;

ModelConfig config_of(const std::string& architecture, int64_t layers = 1) {
  ModelConfig config;
  config.architecture = architecture;
  config.layers = layers;
  config.width = 8;
  config.hidden = 12;
  return resolve(config, 23);
}

class Recurrent : public testing::TestWithParam<std::string> {};

TEST_P(Recurrent, SequencesDoNotSeeEachOther) {
  const auto model = make_model(config_of(GetParam(), 2), 3, at::kDouble);
  const at::NoGradGuard no_grad;
  const std::vector<int64_t> lengths{9, 4, 12, 1, 4};
  const Batch together = random_batch(lengths, 7);
  const at::Tensor logits = model->head(model->rows(together, {}, Arithmetic::full));
  const auto* offset = together.offsets.const_data_ptr<int64_t>();
  const auto* targets = together.target_offsets.const_data_ptr<int64_t>();
  for (size_t s = 0; s < lengths.size(); ++s) {
    Batch alone;
    alone.tokens = together.tokens.narrow(0, offset[s], lengths[s]);
    alone.offsets = at::tensor({int64_t{0}, lengths[s]}, at::kLong);
    alone.positions = at::arange(lengths[s]);
    const int64_t count = targets[s + 1] - targets[s];
    alone.loss_rows = together.loss_rows.narrow(0, targets[s], count) - offset[s];
    alone.targets = together.targets.narrow(0, targets[s], count);
    const at::Tensor own = model->head(model->rows(alone, {}, Arithmetic::full));
    EXPECT_LT((own - logits.narrow(0, targets[s], count)).abs().max().item<double>(), 1e-12) << s;
  }
  // What comes later changes nothing before it.
  const at::Tensor hidden = model->hidden(together).back();
  Batch changed = together;
  changed.tokens = together.tokens.clone();
  changed.tokens[8] = (changed.tokens[8] + 1) % 23;
  const at::Tensor other = model->hidden(changed).back();
  EXPECT_TRUE(at::equal(hidden.narrow(0, 0, 8), other.narrow(0, 0, 8)));
  EXPECT_FALSE(at::equal(hidden[8], other[8]));
  EXPECT_TRUE(at::equal(hidden.narrow(0, 9, 21), other.narrow(0, 9, 21)));
}

TEST_P(Recurrent, ContinuesAsItReads) {
  const auto model = make_model(config_of(GetParam(), 2), 3, at::kDouble);
  const std::vector<std::vector<int32_t>> texts{{1, 5, 3, 9, 2, 7, 7, 20, 1}, {4, 4, 18, 2}, {9, 1, 3, 5, 21, 22}};
  const auto prefix = [&](size_t text, size_t count) {
    return std::vector<int32_t>(texts[text].begin(), texts[text].begin() + static_cast<std::ptrdiff_t>(count));
  };
  const auto read = [&](const std::vector<std::vector<int32_t>>& prompts) {
    return model->continuation(Arithmetic::full, std::ssize(prompts), 64)->read(prompts, {});
  };
  // Each text at a place of its own, so that clocks differ within a step.
  const auto kept = model->continuation(Arithmetic::full, 3, 64);
  const std::vector<size_t> begun{5, 2, 1};
  kept->read(std::vector<std::vector<int32_t>>{prefix(0, 5), prefix(1, 2), prefix(2, 1)}, {});
  for (size_t step = 0; step < 2; ++step) {
    std::vector<int64_t> tokens, positions;
    std::vector<std::vector<int32_t>> whole;
    for (size_t text = 0; text < 3; ++text) {
      positions.push_back(static_cast<int64_t>(begun[text] + step));
      tokens.push_back(texts[text][begun[text] + step]);
      whole.push_back(prefix(text, begun[text] + step + 1));
    }
    const at::Tensor best =
        kept->step(at::tensor(tokens, at::kLong), at::tensor(positions, at::kLong), {}, 8, {1, 1, 1});
    EXPECT_TRUE(at::equal(best, read(whole))) << step;
  }
  kept->keep(at::tensor({int64_t{2}, int64_t{0}}, at::kLong));
  const at::Tensor best = kept->step(at::tensor({int64_t{texts[2][3]}, int64_t{texts[0][7]}}, at::kLong),
                                     at::tensor({int64_t{3}, int64_t{7}}, at::kLong), {}, 8, {1, 1});
  EXPECT_TRUE(at::equal(best, read({prefix(2, 4), prefix(0, 8)})));
  EXPECT_EQ(model->bytes_kept(10), model->bytes_kept(10'000)) << "O(1) in length";
}

TEST_P(Recurrent, HasAsManyParametersAsTheDecoderItIsLike) {
  for (const char* like : {"tiny", "small"}) {
    ModelConfig config;
    config.architecture = GetParam();
    config.like = like;
    const ModelConfig full = resolve(config, 40);
    ModelConfig decoder;
    decoder.model = like;
    const auto wanted = static_cast<double>(count_parameters(resolve(decoder, 40)));
    EXPECT_NEAR(static_cast<double>(count_parameters(full)) / wanted, 1, 0.01) << like;
    EXPECT_EQ(make_model(full, 1)->parameters().count(), count_parameters(full));
    EXPECT_EQ(resolve(full, 40).hidden, full.hidden) << "resolving twice changes nothing";
  }
}

TEST_P(Recurrent, RefusesWhatIsTheDecoders) {
  const auto mistake = [&](const std::function<void(ModelConfig&)>& change) {
    ModelConfig config;
    config.architecture = GetParam();
    change(config);
    return mistake_of([&] { resolve(config, 23); });
  };
  EXPECT_EQ(mistake([](ModelConfig& c) { c.encoding = "rope"; }),
            "--encoding rope goes with --architecture decoder; " + GetParam() + " has no positional encoding");
  EXPECT_EQ(mistake([](ModelConfig& c) { c.encoding = "nope"; }),
            "--encoding nope goes with --architecture decoder; " + GetParam() + " has no positional encoding");
  EXPECT_EQ(mistake([](ModelConfig& c) { c.heads = 4; }),
            "--heads goes with --architecture decoder, not with " + GetParam());
  EXPECT_EQ(mistake([](ModelConfig& c) {
              c.hidden = 12;
              c.like = "tiny";
            }),
            "--hidden and --like exclude each other");
}

INSTANTIATE_TEST_SUITE_P(Architectures, Recurrent, testing::Values("cwrnn", "rnn", "lstm"));

TEST(Architectures, NamesTheNearest) {
  ModelConfig config;
  config.architecture = "cwrn";
  EXPECT_EQ(mistake_of([&] { resolve(config, 23); }),
            "there is no architecture 'cwrn'; there are decoder, cwrnn, rnn, lstm; did you mean 'cwrnn'?");
  config = {};
  config.periods = "1,2";
  EXPECT_EQ(mistake_of([&] { resolve(config, 23); }),
            "--periods goes with a recurrent --architecture, not with decoder");
  config.architecture = "lstm";
  EXPECT_EQ(mistake_of([&] { resolve(config, 23); }),
            "--periods goes with --architecture cwrnn, not with lstm, which has no clocks");
  config.architecture = "cwrnn";
  config.hidden = 13;
  EXPECT_EQ(mistake_of([&] { resolve(config, 23); }),
            "--hidden 13 is not a multiple of the 2 modules of --periods 1,2");
}

TEST(Architectures, AMissingEncodingIsNopeOfADecoderAlone) {
  EXPECT_EQ(resolve(ModelConfig{}, 23).encoding, "nope");
  EXPECT_EQ(config_of("cwrnn").encoding, "");
  EXPECT_EQ(config_of("cwrnn", 1).periods, "1,2,4,8,16,32");
}

}  // namespace
}  // namespace lengthwise
