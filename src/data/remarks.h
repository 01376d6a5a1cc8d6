#pragma once
/// What a user should know about a data set before training on it.
#include <cstdint>
#include <string>
#include <vector>

#include "data/data_set.h"

namespace lengthwise {

/// How many examples there are.
struct SplitCounts {
  int64_t train = 0;
  int64_t validation = 0;
  int64_t test = 0;
};

/// One line for each split that has fewer examples than were asked for because the task has no more problems of those
/// lengths. A little less than asked for, which rounding makes (task_source.h), is no line; neither is what `dedup`
/// dropped, nor a file that holds too few, which is an error.
std::vector<std::string> shortfalls(const ResolvedData& data, const SplitCounts& counts);

/// Words of a split that never occur in training, so that nothing can be learned about them.
struct NewWords {
  int64_t count = 0;               ///< how many different ones
  std::vector<std::string> first;  ///< some of them, in the order of the vocabulary
};
NewWords words_not_in_training(const DataSet& set, Split split, size_t shown = 5);

/// Throws UserError that says why there is nothing to train on, or nothing to choose the best weights by.
void check_trainable(const DataConfig& config, const DataSet& set);

/// Shortfalls and new words in lines to be printed; of new words those of the test set.
std::vector<std::string> remarks(const DataConfig& config, const DataSet& set);

}  // namespace lengthwise
