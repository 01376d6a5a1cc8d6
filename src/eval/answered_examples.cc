#include "eval/answered_examples.h"

#include <algorithm>

#include "core/json.h"
#include "eval/engines.h"

namespace lengthwise {
namespace {

constexpr size_t kLengths = 3;
constexpr size_t kPerLength = 4;
constexpr size_t kLookedAt = 48;

/// The first few examples of each of the first lengths past the limit.
std::map<int64_t, std::vector<int64_t>> candidates(const TokenSet& test, int64_t train_limit) {
  std::map<int64_t, std::vector<int64_t>> by_length;
  for (int64_t i = 0; i < test.size(); ++i) {
    const int64_t length = test.length[static_cast<size_t>(i)];
    if (length <= train_limit) continue;
    std::vector<int64_t>& examples = by_length[length];
    if (examples.size() < kLookedAt) examples.push_back(i);
  }
  while (by_length.size() > kLengths) by_length.erase(std::prev(by_length.end()));
  return by_length;
}

/// Half of each kind where there are enough of both; `judged` says of every example whether it is right.
std::vector<int64_t> choose(const std::vector<int64_t>& examples, const std::map<int64_t, bool>& judged) {
  std::vector<int64_t> right, wrong;
  for (const int64_t example : examples) (judged.at(example) ? right : wrong).push_back(example);
  const size_t half = kPerLength / 2;
  const size_t most_right = std::max(half, kPerLength - std::min(kPerLength, wrong.size()));
  right.resize(std::min(right.size(), most_right));
  wrong.resize(std::min(wrong.size(), kPerLength - right.size()));
  right.insert(right.end(), wrong.begin(), wrong.end());
  std::sort(right.begin(), right.end());
  return right;
}

}  // namespace

int64_t longest_length(const TokenSet& set) {
  return set.length.empty() ? 0 : *std::max_element(set.length.begin(), set.length.end());
}

std::string answered_examples(Model& model, Scorer& scorer, const Vocabulary& vocabulary, const TokenSet& test,
                              int64_t train_limit, const EvaluationOptions& options) {
  const std::map<int64_t, std::vector<int64_t>> by_length = candidates(test, train_limit);
  std::vector<int64_t> looked_at;
  for (const auto& [length, examples] : by_length) looked_at.insert(looked_at.end(), examples.begin(), examples.end());
  Progress quiet(Progress::Mode::quiet);
  const Judgement judgement = judge(model, scorer, vocabulary, test, looked_at, options, quiet);
  std::map<int64_t, bool> judged;
  for (size_t i = 0; i < looked_at.size(); ++i) judged[looked_at[i]] = judgement.right[i];
  std::vector<int64_t> chosen;
  for (const auto& [length, examples] : by_length) {
    const std::vector<int64_t> some = choose(examples, judged);
    chosen.insert(chosen.end(), some.begin(), some.end());
  }
  std::vector<std::vector<int32_t>> prompts;
  int64_t longest = 0;
  for (const int64_t example : chosen) {
    const std::span<const int32_t> prompt = test.prompt(example);
    prompts.emplace_back(prompt.begin(), prompt.end());
    longest = std::max(longest, static_cast<int64_t>(test.sequence(example).size()));
  }
  // Whole targets are compared token by token, so that an answer is wrong for good once it is longer than the right
  // one; a little more of it is enough to see. Where only the answer counts, it can come later.
  int64_t limit = options.task == nullptr ? longest + 8 : options.max_total_tokens;
  if (const auto positions = model.position_limit()) limit = std::min(limit, *positions);
  const auto answers = generate_answers(model, prompts, {.max_total_tokens = limit, .precision = options.precision});
  std::string lines;
  for (size_t i = 0; i < chosen.size(); ++i) {
    const Json line = {{"selection", "best"},
                       {"split", "test"},
                       {"length", test.length[static_cast<size_t>(chosen[i])]},
                       {"prompt", vocabulary.decode(test.prompt(chosen[i]))},
                       {"target", vocabulary.decode(test.target(chosen[i]))},
                       {"answer", vocabulary.decode(answers[i])},
                       {"correct", is_right(vocabulary, test, chosen[i], answers[i], options)}};
    lines += json_text(line) + "\n";
  }
  return lines;
}

}  // namespace lengthwise
