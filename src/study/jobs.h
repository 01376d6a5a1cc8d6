#pragma once
/// How many runs to do at once where nobody has said it.
///
/// On a GPU runs of small models leave most of the chip to others, while two large ones fill it (docs/performance.md:
/// eight of `tiny` are three times as fast as one, two of `base` 4 % and more of them not faster than two). On the CPU
/// one run on each core is faster than one on all of them, as long as the models are small.
#include "study/plan.h"

namespace lengthwise {

/// For runs of a model with so many parameters on `cpu` or `cuda`, and so many threads.
int64_t suitable_jobs(const std::string& device, int64_t parameters, int64_t threads);

/// For the largest model among the selected runs of a study, but no more than there are of them. `threads` of all jobs
/// together; 0: one per core.
int64_t suitable_jobs(const StudyPlan& plan, int64_t threads);

}  // namespace lengthwise
