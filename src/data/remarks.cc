#include "data/remarks.h"

#include "core/error.h"
#include "core/files.h"
#include "core/text.h"

namespace lengthwise {

std::vector<std::string> shortfalls(const ResolvedData& data, const SplitCounts& counts) {
  std::vector<std::string> lines;
  if (data.task == nullptr || !data.corpus.empty()) return lines;
  const std::string& name = data.task->info().name;
  const bool validation_is_short = !data.dedup && data.validation_count && counts.validation < *data.validation_count;
  if (counts.train < *data.train_count || validation_is_short) {
    lines.push_back(
        fmt::format("{} has {} problems of lengths {}: {} are for training ({} were asked for), {} for "
                    "validation",
                    name, counts.train + counts.validation, to_text(*data.train_lengths), counts.train,
                    *data.train_count, counts.validation));
  }
  // Rounding costs less than one example in each of the finest cells; a tenth is more than that in any set worth
  // having.
  if (!data.dedup && 10 * counts.test < 9 * *data.test_count) {
    lines.push_back(fmt::format("{} has {} problems of lengths {} for the test set ({} were asked for)", name,
                                counts.test, to_text(*data.test_lengths), *data.test_count));
  }
  return lines;
}

NewWords words_not_in_training(const DataSet& set, Split split, size_t shown) {
  const auto occurring = [&](const TokenSet& tokens) {
    std::vector<bool> seen(static_cast<size_t>(set.vocabulary.size()));
    for (const int32_t id : tokens.tokens) seen[static_cast<size_t>(id)] = true;
    return seen;
  };
  const std::vector<bool> trained = occurring(set.train);
  const std::vector<bool> here = occurring(set.of(split));
  NewWords words;
  for (int32_t id = 0; id < set.vocabulary.size(); ++id) {
    if (!here[static_cast<size_t>(id)] || trained[static_cast<size_t>(id)]) continue;
    if (static_cast<size_t>(words.count) < shown) words.first.push_back(set.vocabulary.token(id).text);
    ++words.count;
  }
  return words;
}

void check_trainable(const DataConfig& config, const DataSet& set) {
  if (set.train.size() == 0) fail("there are no training examples");
  if (set.validation.size() > 0) return;
  constexpr const char* kNeeded = "training needs examples there to choose the best weights by";
  if (config.dedup) {
    fail("--dedup leaves no validation example: the prompt of each stands in training; {}", kNeeded);
  }
  if (config.validation_count && *config.validation_count == 0) {
    fail("--validation-count 0 leaves no validation example; {}", kNeeded);
  }
  if (!config.data.empty()) {
    fail("{} holds no example; {}", shown(std::filesystem::path(config.data) / "validation.jsonl"), kNeeded);
  }
  if (!config.text.empty()) {
    fail("{} has no text for validation; {}; `lengthwise text prepare` takes it with --validation or --hold-out",
         shown(config.text), kNeeded);
  }
  fail("there are no validation examples; with a larger --train-count or a --validation-count there would be");
}

std::vector<std::string> remarks(const DataConfig& config, const DataSet& set) {
  std::vector<std::string> lines =
      shortfalls(resolve(config), {set.train.size(), set.validation.size(), set.test.size()});
  if (const NewWords words = words_not_in_training(set, Split::test); words.count > 0) {
    std::vector<std::string> quoted;
    for (const std::string& word : words.first) quoted.push_back("'" + excerpt(word, 20) + "'");
    lines.push_back(fmt::format("{} of the test set never {} in training: {}{}",
                                words.count == 1 ? "1 word" : fmt::format("{} words", words.count),
                                words.count == 1 ? "occurs" : "occur", join(quoted, ", "),
                                words.count > static_cast<int64_t>(quoted.size()) ? ", ..." : ""));
  }
  return lines;
}

}  // namespace lengthwise
