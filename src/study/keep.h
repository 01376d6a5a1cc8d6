#pragma once
/// What stays of a finished run: everything, or its results without the weights, so that a study of large models is
/// megabytes.
#include <filesystem>
#include <string>
#include <string_view>

#include "study/plan.h"

namespace lengthwise {

enum class Keep {
  all,
  results,  ///< configuration, vocabulary, metrics, accuracies, examples, summary; no weights, no optimizer state
};
std::string to_text(Keep keep);
void from_text(std::string_view text, Keep& keep);

/// Removes weights and optimizer state from the folder of a finished run, which the caller has locked. Whether there
/// were any.
bool drop_weights(const std::filesystem::path& run);

/// The same for every selected run of a study that is finished and that nobody works on. How many had any.
size_t drop_weights_of_finished(const std::filesystem::path& study, const StudyPlan& plan);

}  // namespace lengthwise
