#include "study/jobs.h"

#include <algorithm>

#include "core/threads.h"
#include "model/architectures.h"

namespace lengthwise {
namespace {

// Parameters: `base` has 85 million, `small` 3, `tiny` 0.4. In between nothing was measured.
constexpr int64_t kLarge = 30'000'000;
constexpr int64_t kSmall = 2'000'000;

}  // namespace

int64_t suitable_jobs(const std::string& device, int64_t parameters, int64_t threads) {
  if (device == "cuda") return parameters >= kLarge ? 2 : parameters >= kSmall ? 4 : 8;
  return parameters >= kLarge ? 1 : threads;
}

int64_t suitable_jobs(const StudyPlan& plan, int64_t threads) {
  int64_t parameters = 0;
  bool on_gpu = false;
  int64_t runs = 0;
  for (const StudyRun& run : plan.runs) {
    if (!run.selected) continue;
    ++runs;
    parameters = std::max(parameters, count_parameters(run.config.model));
    on_gpu = on_gpu || run.config.device == "cuda";
  }
  return std::clamp<int64_t>(suitable_jobs(on_gpu ? "cuda" : "cpu", parameters, threads_or_cores(threads)), 1,
                             std::max<int64_t>(1, runs));
}

}  // namespace lengthwise
