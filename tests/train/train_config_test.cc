#include "train/train_config.h"

#include <gtest/gtest.h>

#include "core/error.h"
#include "train/quick.h"

namespace lengthwise {
namespace {

/// `1234` as help texts write it: `1,234`.
std::string with_commas(int64_t number) {
  std::string text = std::to_string(number);
  for (auto at = static_cast<int64_t>(text.size()) - 3; at > 0; at -= 3) text.insert(static_cast<size_t>(at), ",");
  return text;
}

TEST(TrainConfig, HelpNamesTheNumbersOfThePresets) {
  TrainConfig config;
  std::map<std::string, std::string> help;
  config.visit([&](const char* name, auto&, const char* text) { help[name] = text; });
  for (const char* preset : {"tiny", "base"}) {
    config.model.model = preset;
    config.device = "cpu";
    config.precision = "fp32";
    const TrainConfig full = resolve(config, 10);
    const auto says = [&](const char* option, const std::string& value) {
      EXPECT_NE(help[option].find(fmt::format("{}: {}", preset, value)), std::string::npos) << option << " " << value;
    };
    says("steps", with_commas(full.steps));
    says("lr", full.lr < 1e-3 ? fmt::format("{:.0e}", full.lr).replace(2, 2, "-") : to_text(full.lr));
    says("layers", to_text(full.model.layers));
    says("width", to_text(full.model.width));
    says("heads", to_text(full.model.heads));
    says("ff-width", with_commas(full.model.ff_width));
    says("dropout", to_text(full.model.dropout));
    says("score-scale", full.model.score_scale);
    says("warmup", to_text(full.warmup));
    says("beta2", to_text(full.beta2));
    says("validate-every", fmt::format("every {} of {}", with_commas(full.validate_every), with_commas(full.steps)));
    says("validation-portion", to_text(full.validation_portion));
  }
}

TEST(TrainConfig, BatchesAreTakenInPartsOnEveryDevice) {
  TrainConfig config;
  config.accumulate = 4;
  config.precision = "bf16";
  for (const char* device : {"cpu", "cuda"}) {
    config.device = device;
    EXPECT_EQ(resolve(config, 10).accumulate, 4);
  }
  config.accumulate = 65;  // of 64 sequences
  EXPECT_THROW(resolve(config, 10), UserError);
}

TEST(Quick, MakesSmallWhatIsLeftOpen) {
  TrainConfig config;
  config.data.task = "sort";
  const TrainConfig quick = make_quick(config);
  EXPECT_EQ(quick.steps, kQuickSteps);
  EXPECT_EQ(quick.validate_every, kQuickSteps / kQuickValidations);
  EXPECT_EQ(quick.data.train_count, kQuickTraining);
  EXPECT_EQ(quick.data.validation_count, kQuickValidation);
  EXPECT_EQ(quick.data.test_count, 8 * kQuickTestPerLength);
  config.steps = 50;
  config.validate_every = 10;
  config.data.train_count = 123;
  config.data.validation_count = 7;
  config.data.test_count = 9;
  const TrainConfig given = make_quick(config);
  EXPECT_EQ(given.steps, 50);
  EXPECT_EQ(given.validate_every, 10);
  EXPECT_EQ(given.data.train_count, 123);
  EXPECT_EQ(given.data.validation_count, 7);
  EXPECT_EQ(given.data.test_count, 9);
  TrainConfig own;
  own.data.data = "folder";
  EXPECT_FALSE(make_quick(own).data.test_count) << "the first examples of a file may be all of one length";
  EXPECT_EQ(make_quick(own).steps, kQuickSteps);
}

}  // namespace
}  // namespace lengthwise
