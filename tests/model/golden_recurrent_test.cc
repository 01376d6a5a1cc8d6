// Logits, loss and gradients of recurrent networks against an independent NumPy script
// (tests/golden/make_recurrent.py).
#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <gtest/gtest.h>

#include "arena/safetensors.h"
#include "model/architectures.h"
#include "model/plain_targets.h"

namespace lengthwise {
namespace {

struct Case {
  const char* file;
  const char* architecture;
  const char* periods;
  int64_t layers;
};

class GoldenRecurrent : public testing::TestWithParam<Case> {};

TEST_P(GoldenRecurrent, LogitsLossAndGradients) {
  const Case& its = GetParam();
  const TensorFile file =
      read_safetensors(std::string(LENGTHWISE_SOURCE_DIR) + "/tests/golden/recurrent/" + its.file + ".safetensors");
  const auto stored = [&](const std::string& name) {
    for (const auto& [key, tensor] : file.tensors) {
      if (key == name) return tensor;
    }
    throw std::runtime_error("no " + name);
  };
  ModelConfig config;
  config.architecture = its.architecture;
  config.periods = its.periods;
  config.layers = its.layers;
  config.width = 5;
  config.hidden = 8;
  const auto model = make_model(resolve(config, 11), 1, at::kDouble);
  {
    const at::NoGradGuard no_grad;
    for (Parameter& parameter : model->parameters().all()) {
      parameter.value.copy_(stored("parameter." + parameter.name));
    }
  }
  Batch batch;
  batch.tokens = stored("tokens");
  batch.offsets = stored("offsets");
  batch.positions = at::arange(batch.tokens.size(0));
  batch.loss_rows = stored("loss_rows");
  batch.targets = stored("targets");
  const at::Tensor logits = model->head(model->rows(batch, {}, Arithmetic::full));
  EXPECT_LT((logits - stored("logits")).abs().max().item<double>(), 1e-12);
  const double weight = 1.0 / static_cast<double>(batch.target_count());
  const TargetScores scores = plain_gradients(*model, batch, {}, Arithmetic::full, weight);
  EXPECT_NEAR(scores.losses.mean().item<double>(), stored("loss").item<double>(), 1e-12);
  EXPECT_TRUE(at::equal(scores.best, stored("logits").argmax(-1)));
  for (const Parameter& parameter : model->parameters().all()) {
    const at::Tensor wanted = stored("gradient." + parameter.name);
    EXPECT_GT(wanted.abs().max().item<double>(), 0) << parameter.name;
    EXPECT_LT((parameter.gradient - wanted).abs().max().item<double>(), 1e-12) << parameter.name;
  }
}

INSTANTIATE_TEST_SUITE_P(Files, GoldenRecurrent,
                         testing::Values(Case{"clockwork-2", "cwrnn", "1,3", 1},
                                         Case{"clockwork-4", "cwrnn", "1,2,4,8", 2}, Case{"plain", "rnn", "", 1},
                                         Case{"lstm", "lstm", "", 2}),
                         [](const auto& named) {
                           std::string name = named.param.file;
                           std::erase(name, '-');
                           return name;
                         });

}  // namespace
}  // namespace lengthwise
