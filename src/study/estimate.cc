#include "study/estimate.h"

#include <map>
#include <mutex>
#include <thread>

#include "eval/more_measures.h"
#include "model/decoder.h"
#include "study/measure_speeds.h"

namespace lengthwise {
namespace {

/// What decides how fast a run's steps are: of the encoding only whether the device's fused kernels apply it, and all
/// other options that matter.
struct Kind {
  bool fused = false;
  std::string options;

  auto operator<=>(const Kind&) const = default;
};

Kind kind_of(const TrainConfig& config) {
  TrainConfig like = with_few_examples(config);
  const bool fused = runs_fused(like.model, like.device == "cuda" ? at::kCUDA : at::kCPU);
  like.model.encoding.clear();
  like.model.encoding_options = {};
  const TrainConfig blank;
  like.seed = 0;
  like.steps = like.validate_every = like.checkpoint_every = 0;
  like.lr = like.validation_portion = 0;
  like.data.train_count = like.data.validation_count = like.data.test_count = std::nullopt;
  like.data.data_seed = blank.data.data_seed;
  return {fused, run_identity(like)};
}

/// How often the test text is gone through after training, for both weights together: by every context once, and for
/// the best ones by the sliding window and every other encoding as well. Longer windows cost somewhat more than this.
double text_passes(const TrainConfig& config) {
  double apart = 0;
  double slid = 0;
  for (const int64_t context : resolve(config.data).contexts) {
    apart += 1;
    if (config.stride > 0) slid += static_cast<double>(context) / static_cast<double>(config.stride);
  }
  const auto readings = 1 + static_cast<double>(listed_encodings(config.measure_with).size());
  return apart + readings * (apart + slid);
}

double run_seconds(const TrainConfig& config, const Speeds& speeds) {
  const auto steps = static_cast<double>(config.steps);
  constexpr double kValidationShare = 0.15;  // of the training examples, where the file does not say
  double validation = static_cast<double>(speeds.validation_size);
  double test = static_cast<double>(speeds.test_size);
  if (is_drawn(config.data)) {
    const auto train = static_cast<double>(config.data.train_count.value_or(0));
    validation =
        config.data.validation_count ? static_cast<double>(*config.data.validation_count) : kValidationShare * train;
    test = static_cast<double>(config.data.test_count.value_or(0));
  }
  validation *= config.validation_portion;
  const double score_validation = validation * speeds.validation_tokens * speeds.forward;
  const double score_test = test * speeds.test_tokens * speeds.forward;
  const double validations = std::ceil(steps / static_cast<double>(config.validate_every));
  // At the end both the best and the last weights are evaluated. Most of the lengths of training is exact by then and
  // need not be generated.
  if (!config.data.text.empty()) {
    return steps * speeds.step + (validations + 2) * score_validation + text_passes(config) * score_test;
  }
  const auto readings = static_cast<double>(listed_encodings(config.measure_with).size());
  return steps * speeds.step + validations * score_validation +
         (2 + readings) * (score_validation + score_test + test * speeds.generation);
}

}  // namespace

std::vector<RunCost> estimate_costs(const StudyPlan& plan, const StudyOptions& options,
                                    const std::function<void(size_t, size_t)>& progress) {
  std::map<Kind, size_t> places;
  std::vector<size_t> kinds(plan.runs.size());
  std::vector<const TrainConfig*> samples;
  for (size_t i = 0; i < plan.runs.size(); ++i) {
    const StudyRun& run = plan.runs[i];
    if (!run.selected) continue;
    const auto [found, fresh] = places.try_emplace(kind_of(run.config), samples.size());
    if (fresh) samples.push_back(&run.config);
    kinds[i] = found->second;
  }
  std::vector<Speeds> speeds(samples.size());
  std::atomic<size_t> next = 0;
  std::mutex mutex;
  size_t done = 0;
  std::exception_ptr error;
  const auto work = [&] {
    Bench bench;
    for (size_t i = next++; i < samples.size(); i = next++) {
      try {
        speeds[i] = bench.measure(*samples[i], threads_per_job(options));
      } catch (...) {
        const std::lock_guard guard(mutex);
        if (!error) error = std::current_exception();
      }
      const std::lock_guard guard(mutex);
      progress(++done, samples.size());
    }
  };
  std::vector<std::thread> threads;
  for (int64_t job = 0; job < options.jobs; ++job) threads.emplace_back(work);
  for (std::thread& thread : threads) thread.join();
  if (error) std::rethrow_exception(error);
  std::vector<RunCost> costs(plan.runs.size());
  for (size_t i = 0; i < plan.runs.size(); ++i) {
    const TrainConfig& config = plan.runs[i].config;
    if (plan.runs[i].selected) costs[i] = {run_seconds(config, speeds[kinds[i]]), disk_bytes(config, options.keep)};
  }
  return costs;
}

}  // namespace lengthwise
