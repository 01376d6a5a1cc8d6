// Logits, loss and gradients of a two-layer model against an independent NumPy script (tests/golden/make_golden.py).
#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "arena/safetensors.h"
#include "model/cpu_engine.h"
#include "model/plain_decoder.h"
#include "positional/registry.h"
#include "tests/model/golden_model.h"

namespace lengthwise {
namespace {

using testing_model::golden_config;
using testing_model::kGoldenOptions;

class Golden : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    const std::string& name = GetParam();
    const std::string path = std::string(LENGTHWISE_SOURCE_DIR) + "/tests/golden/" + name + ".safetensors";
    ASSERT_TRUE(std::filesystem::exists(path))
        << "no golden numbers of the encoding " << name << " yet: write its formula to tests/golden/encodings/" << name
        << ".py (the top of tests/golden/make_golden.py says how), then run `tools/golden " << name << "`";
    file_ = read_safetensors(path);
    config_ = golden_config(name);
    batch_.tokens = file_.find("tokens");
    batch_.offsets = file_.find("offsets");
    batch_.loss_rows = file_.find("loss_rows");
    batch_.targets = file_.find("targets");
    std::vector<int64_t> positions;
    for (int64_t s = 0; s + 1 < batch_.offsets.size(0); ++s) {
      const int64_t length = batch_.offsets[s + 1].item<int64_t>() - batch_.offsets[s].item<int64_t>();
      for (int64_t t = 0; t < length; ++t) positions.push_back(t);
      batch_.longest = std::max(batch_.longest, length);
    }
    batch_.positions = at::tensor(positions, at::kLong);
    for (const auto& [tensor, values] : file_.tensors) {
      if (tensor == "places") batch_.streams.push_back(values);
    }
  }

  void load(Decoder& decoder) const {
    at::NoGradGuard no_grad;
    size_t given = 0;
    for (const auto& [name, tensor] : file_.tensors) given += name.starts_with("parameter.") ? 1 : 0;
    EXPECT_EQ(decoder.parameters().all().size(), given);
    for (Parameter& parameter : decoder.parameters().all())
      parameter.value.copy_(file_.find("parameter." + parameter.name));
  }

  void check(at::ScalarType type, double tolerance) const {
    Decoder decoder(config_, 1, type);
    load(decoder);
    const at::Tensor wanted_logits = file_.find("logits");
    const at::Tensor logits = plain_logits(decoder, batch_).detach().to(at::kDouble);
    EXPECT_LE((logits - wanted_logits).abs().max().item<double>(),
              tolerance * wanted_logits.abs().max().item<double>());
    CpuEngine engine(decoder);
    const TargetScores scores =
        engine.accumulate_gradients(batch_, {}, 1.0 / static_cast<double>(batch_.target_count()));
    const double loss = file_.find("loss").item<double>();
    EXPECT_NEAR(scores.losses.to(at::kDouble).mean().item<double>(), loss, tolerance * loss);
    for (const Parameter& parameter : decoder.parameters().all()) {
      const at::Tensor wanted = file_.find("gradient." + parameter.name);
      const double size = wanted.abs().max().item<double>();
      EXPECT_LE((parameter.gradient.to(at::kDouble) - wanted).abs().max().item<double>(), tolerance * size)
          << parameter.name;
    }
  }

  TensorFile file_;
  ModelConfig config_;
  Batch batch_;
};

TEST_P(Golden, AgreesInDouble) {
  check(at::kDouble, 1e-9);
}

TEST_P(Golden, AgreesInFloat) {
  check(at::kFloat, 1e-5);
}

std::vector<std::string> golden_names() {
  std::vector<std::string> names = encoding_names();
  for (const char* full : {"rope-full", "pi-full", "ntk-full", "yarn-full", "llama3-full", "rerope-full"}) {
    names.emplace_back(full);
  }
  for (const auto& [name, text] : kGoldenOptions) names.push_back(name);
  return names;
}

INSTANTIATE_TEST_SUITE_P(Registry, Golden, testing::ValuesIn(golden_names()), [](const auto& instance) {
  std::string name = instance.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

}  // namespace
}  // namespace lengthwise
