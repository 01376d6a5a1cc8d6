#include "train/train_config.h"

#include <algorithm>
#include <cmath>

#include "core/error.h"

namespace lengthwise {
namespace {

struct Recipe {
  const char* model;
  int64_t steps;
  double lr, warmup, beta2;
  double validation_portion;
  int64_t validations;
};

// Short runs learn to count repeated symbols, the hard part of sorting, only with a long warm-up and a short memory of
// squared gradients (docs/tiny.md has the figures).
constexpr Recipe kRecipes[] = {
    {"tiny", 12000, 5e-3, 0.4, 0.95, 1, 6},
    {"small", 6000, 5e-4, 0.4, 0.95, 0.3, 12},
    {"base", 40000, 3e-5, 0.06, 0.999, 0.5, 20},
};

}  // namespace

TrainConfig resolve(const TrainConfig& config, int64_t vocabulary_size) {
  TrainConfig full = config;
  full.model = resolve(config.model, vocabulary_size);
  const auto* recipe = std::find_if(std::begin(kRecipes), std::end(kRecipes),
                                    [&](const Recipe& entry) { return full.model.model == entry.model; });
  LENGTHWISE_CHECK(recipe != std::end(kRecipes), "no recipe for the model {}", full.model.model);
  if (full.steps == 0) full.steps = recipe->steps;
  if (full.batch_size == 0) full.batch_size = 64;
  if (full.lr == 0) full.lr = recipe->lr;
  if (full.validation_portion == 0) full.validation_portion = recipe->validation_portion;
  if (full.warmup == -1) full.warmup = recipe->warmup;
  if (full.beta2 == -1) full.beta2 = recipe->beta2;
  if (full.validate_every == 0) full.validate_every = std::max<int64_t>(1, full.steps / recipe->validations);
  if (full.checkpoint_every == 0) full.checkpoint_every = full.validate_every;

  const auto check = [](bool good, const char* option, const auto& value, const char* wanted) {
    if (!good) fail("--{} must be {}, not {}", option, wanted, value);
  };
  check(full.steps > 0, "steps", full.steps, "positive");
  check(full.batch_size > 0 && full.batch_size <= 1 << 20, "batch-size", full.batch_size, "between 1 and 1048576");
  check(full.accumulate > 0 && full.accumulate <= full.batch_size, "accumulate", full.accumulate,
        "between 1 and --batch-size");
  check(full.lr > 0, "lr", full.lr, "positive");
  check(full.lr_end >= 0, "lr-end", full.lr_end, "at least 0");
  check(full.warmup >= 0 && full.warmup <= 1, "warmup", full.warmup, "between 0 and 1");
  check(full.weight_decay >= 0, "weight-decay", full.weight_decay, "at least 0");
  check(full.beta1 >= 0 && full.beta1 < 1, "beta1", full.beta1, "at least 0 and below 1");
  check(full.beta2 >= 0 && full.beta2 < 1, "beta2", full.beta2, "at least 0 and below 1");
  check(full.epsilon > 0, "epsilon", full.epsilon, "positive");
  check(full.clip >= 0, "clip", full.clip, "at least 0");
  check(full.random_offset >= 0, "random-offset", full.random_offset, "at least 0");
  check(full.start_noise >= 0 && std::isfinite(full.start_noise), "start-noise", full.start_noise, "at least 0");
  check(full.validate_every > 0, "validate-every", full.validate_every, "positive");
  check(full.validation_portion > 0 && full.validation_portion <= 1, "validation-portion", full.validation_portion,
        "above 0 and at most 1");
  check(full.watch_longer >= 0, "watch-longer", full.watch_longer, "at least 0");
  check(full.checkpoint_every > 0, "checkpoint-every", full.checkpoint_every, "positive");
  check(full.device == "cpu" || full.device == "cuda", "device", full.device, "cpu, cuda or auto");
  LENGTHWISE_CHECK(full.precision == "fp32" || full.precision == "bf16" || full.precision == "tf32",
                   "the precision '{}' was not resolved", full.precision);
  check(full.threads >= 0 && full.threads <= 1024, "threads", full.threads, "between 0 and 1024");
  check(full.seed >= 0, "seed", full.seed, "at least 0");
  return full;
}

bool decides_result(std::string_view option) {
  return option != "threads" && option != "watch-longer" && option != "start-from" && option != "stride" &&
         option != "measure-with";
}

}  // namespace lengthwise
