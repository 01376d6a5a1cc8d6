#include "theory/saved_run.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "core/error.h"
#include "eval/load_run.h"
#include "model/inspect.h"
#include "tests/core/temporary_folder.h"
#include "theory/position_code.h"

namespace lengthwise {
namespace {

TrainConfig small_run() {
  TrainConfig config;
  config.data.task = "sort";
  return config;
}

/// The largest error of dim `position` behind the first layer.
double position_error(const Decoder& decoder, int64_t length, double unit) {
  double error = 1e9;
  Inspection inspection;
  inspection.layers = 1;
  inspection.layer = [&](const LayerView& view) {
    const at::Tensor wanted = unit * at::arange(1, length + 1, at::TensorOptions(at::kFloat));
    error = (view.after.select(1, code_dims::position) - wanted).abs().max().item<double>();
  };
  inspect(decoder, single_sequence(random_sequence(length, decoder.config().vocab_rows, 3)), inspection);
  return error;
}

TEST(SavedConstruction, IsARunThatKnowsPositions) {
  const TemporaryFolder folder;
  for (const OtherWeights others : {OtherWeights::zero, OtherWeights::drawn}) {
    const std::filesystem::path out = folder.path() / (others == OtherWeights::zero ? "zero" : "drawn");
    save_construction(find_construction("absolute"), {.length = 60, .unit = 0.25}, small_run(), others, out);
    const LoadedRun run = load_run(out, "best", "cpu", "fp32");
    EXPECT_EQ(run.step, 0);
    EXPECT_LT(position_error(*as_decoder(*run.model), 60, 0.25), 1e-3);
    const bool has_more = as_decoder(*run.model)->layer(1).out->value.abs().max().item<double>() > 0;
    EXPECT_EQ(has_more, others == OtherWeights::drawn);
  }
}

TEST(SavedConstruction, LeavesNothingWithoutGradient) {
  const TemporaryFolder folder;
  save_construction(find_construction("absolute"), {.length = 40}, small_run(), OtherWeights::drawn,
                    folder.path() / "run");
  const LoadedRun run = load_run(folder.path() / "run", "best", "cpu", "fp32");
  const ModelConfig& config = run.model->config();
  const at::Tensor qkv =
      as_decoder(*run.model)->layer(0).qkv->value.view({config.width, 3, config.heads, config.head_dim});
  for (int64_t head = 1; head < config.heads; ++head) EXPECT_GT(qkv.select(2, head).abs().max().item<double>(), 0);
  EXPECT_GT(as_decoder(*run.model)->layer(0).ff_in->value.abs().amax(0).min().item<double>(), 0)
      << "a unit that never learns";
}

TEST(SavedConstruction, NeedsWeightsAndAPlaceToCountFrom) {
  const TemporaryFolder folder;
  const std::filesystem::path out = folder.path() / "run";
  EXPECT_THROW(save_construction(find_construction("no-mask"), {}, small_run(), OtherWeights::zero, out), UserError);
  TrainConfig without = small_run();
  without.data.wording = Wording::released;
  EXPECT_THROW(save_construction(find_construction("absolute"), {}, without, OtherWeights::zero, out), UserError);
  EXPECT_THROW(save_construction(find_construction("absolute"), {.length = 5000}, small_run(), OtherWeights::zero, out),
               UserError);
  EXPECT_FALSE(std::filesystem::exists(out)) << "nothing is left behind";
}

}  // namespace
}  // namespace lengthwise
