#include "data/statistics.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "data/prompt_index.h"
#include "data/remarks.h"

namespace lengthwise {
namespace {

SplitStatistics measure_split(const DataSet& data, Split split, const PromptIndex& own, const PromptIndex& training) {
  const TokenSet& set = data.of(split);
  SplitStatistics result;
  result.examples = set.size();
  result.tokens = static_cast<int64_t>(set.tokens.size());
  int64_t prompt_tokens = 0;
  for (int64_t i = 0; i < set.size(); ++i) {
    const auto prompt = static_cast<int64_t>(set.prompt(i).size());
    prompt_tokens += prompt;
    result.max_prompt_tokens = std::max(result.max_prompt_tokens, prompt);
    result.max_target_tokens = std::max(result.max_target_tokens, static_cast<int64_t>(set.target(i).size()));
    result.prompts_in_training += training.contains(set.prompt(i)) ? 1 : 0;
    ++result.by_length[set.length[static_cast<size_t>(i)]];
  }
  if (set.size() > 0) {
    const auto examples = static_cast<double>(set.size());
    result.mean_prompt_tokens = static_cast<double>(prompt_tokens) / examples;
    result.mean_target_tokens = static_cast<double>(result.tokens - prompt_tokens) / examples;
  }
  result.distinct_prompts = own.distinct();
  result.words_not_in_training = words_not_in_training(data, split).count;
  return result;
}

nlohmann::ordered_json split_to_json(const SplitStatistics& split) {
  nlohmann::ordered_json lengths = nlohmann::ordered_json::object();
  for (const auto& [length, count] : split.by_length) lengths[std::to_string(length)] = count;
  return {{"examples", split.examples},
          {"tokens", split.tokens},
          {"mean_prompt_tokens", split.mean_prompt_tokens},
          {"max_prompt_tokens", split.max_prompt_tokens},
          {"mean_target_tokens", split.mean_target_tokens},
          {"max_target_tokens", split.max_target_tokens},
          {"distinct_prompts", split.distinct_prompts},
          {"prompts_in_training", split.prompts_in_training},
          {"words_not_in_training", split.words_not_in_training},
          {"by_length", lengths}};
}

}  // namespace

DataStatistics measure(const DataSet& set) {
  const PromptIndex training(set.train);
  return {measure_split(set, Split::train, training, training),
          measure_split(set, Split::validation, PromptIndex(set.validation), training),
          measure_split(set, Split::test, PromptIndex(set.test), training), set.vocabulary.size()};
}

nlohmann::ordered_json to_json(const DataStatistics& statistics) {
  return {{"vocabulary", statistics.vocabulary},
          {"train", split_to_json(statistics.train)},
          {"validation", split_to_json(statistics.validation)},
          {"test", split_to_json(statistics.test)}};
}

}  // namespace lengthwise
