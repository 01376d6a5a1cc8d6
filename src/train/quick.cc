#include "train/quick.h"

#include <algorithm>

#include "tasks/registry.h"

namespace lengthwise {

TrainConfig make_quick(const TrainConfig& config) {
  TrainConfig quick = config;
  if (quick.steps == 0) quick.steps = kQuickSteps;
  if (quick.validate_every == 0) quick.validate_every = std::max<int64_t>(1, quick.steps / kQuickValidations);
  if (!quick.data.text.empty()) {
    if (!quick.data.validation_count) quick.data.validation_count = kQuickValidation;
    if (!quick.data.test_count) quick.data.test_count = kQuickValidation;
  }
  if (quick.data.task.empty() || !quick.data.corpus.empty()) return quick;
  const TaskInfo& task = find_task(quick.data.task).info();
  const LengthRange lengths = quick.data.test_lengths.value_or(task.test);
  if (!quick.data.train_count) quick.data.train_count = std::min<int64_t>(task.train_count, kQuickTraining);
  if (!quick.data.validation_count) quick.data.validation_count = kQuickValidation;
  if (!quick.data.test_count) {
    quick.data.test_count = std::min<int64_t>(task.test_count, kQuickTestPerLength * lengths.size());
  }
  return quick;
}

}  // namespace lengthwise
