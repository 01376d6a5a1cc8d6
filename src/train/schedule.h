#pragma once
/// The learning rate as a pure function of the step.
#include <cstdint>

namespace lengthwise {

/// Linear from 0 over `warmup` steps to `peak`, then linear to `end` at `steps` (the study's "polynomial" of power 1).
/// `step` counts from 0, so the first update of a run with warm-up has rate 0, as in the study's code.
double learning_rate(int64_t step, int64_t steps, int64_t warmup, double peak, double end);

}  // namespace lengthwise
