#pragma once
/// What is in a data set, in numbers.
#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>

#include "data/data_set.h"

namespace lengthwise {

struct SplitStatistics {
  int64_t examples = 0;
  int64_t tokens = 0;  ///< specials included, as everywhere below
  double mean_prompt_tokens = 0;
  int64_t max_prompt_tokens = 0;
  double mean_target_tokens = 0;  ///< with <eos>
  int64_t max_target_tokens = 0;
  std::map<int64_t, int64_t> by_length;  ///< examples of each length
  int64_t distinct_prompts = 0;
  int64_t prompts_in_training = 0;    ///< examples whose prompt stands in training; for training itself all of them
  int64_t words_not_in_training = 0;  ///< tokens of the vocabulary that occur here but never in training
};

struct DataStatistics {
  SplitStatistics train;
  SplitStatistics validation;
  SplitStatistics test;
  int64_t vocabulary = 0;  ///< tokens, specials included
};

DataStatistics measure(const DataSet& set);

nlohmann::ordered_json to_json(const DataStatistics& statistics);

}  // namespace lengthwise
