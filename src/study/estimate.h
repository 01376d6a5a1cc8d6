#pragma once
/// What a study will take before it is begun: time from a few real steps of each kind of run, disk from the number of
/// parameters.
#include <atomic>
#include <functional>
#include <vector>

#include "study/forecast.h"
#include "study/plan.h"
#include "study/run_study.h"

namespace lengthwise {

/// One figure per run, 0 for those that are not selected. Runs that differ in encoding, seed, steps or counts alone
/// share a measurement (an encoding that the fused kernels cannot apply has its own). Training is timed on real
/// batches, cut short where a step of the whole model takes seconds and scaled by their tokens; so are scoring and,
/// where answers are generated, generation, of which is assumed that it is needed for every longer length and stops
/// where the right answer does. As many measurements run at once as there will be jobs, each with a job's threads.
/// `progress(done, total)` counts measurements.
std::vector<RunCost> estimate_costs(const StudyPlan& plan, const StudyOptions& options,
                                    const std::function<void(size_t, size_t)>& progress);

}  // namespace lengthwise
