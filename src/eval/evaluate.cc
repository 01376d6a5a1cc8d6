#include "eval/evaluate.h"

#include "core/error.h"
#include "core/text.h"
#include "eval/engines.h"
#include "infer/teacher_forcing.h"

namespace lengthwise {

std::string to_text(Decoding decoding) {
  return decoding == Decoding::greedy ? "greedy" : "teacher-forcing";
}

void from_text(std::string_view text, Decoding& decoding) {
  if (text == "greedy") {
    decoding = Decoding::greedy;
  } else if (text == "teacher-forcing") {
    decoding = Decoding::teacher_forcing;
  } else {
    fail("'{}' is not a way to decode; there are teacher-forcing and greedy{}", excerpt(text),
         did_you_mean(text, {"teacher-forcing", "greedy"}));
  }
}

EvaluationOptions default_evaluation(const ResolvedData& data) {
  EvaluationOptions options;
  if (data.style.scratchpad.any()) {
    options.decoding = Decoding::greedy;
    options.task = data.task;
    options.max_total_tokens = 1500;
  }
  return options;
}

std::vector<bool> greedy_correct(const Decoder& decoder, const Vocabulary& vocabulary, const TokenSet& set,
                                 std::span<const int64_t> examples, const EvaluationOptions& options,
                                 Progress& progress) {
  std::vector<std::vector<int32_t>> prompts;
  for (const int64_t example : examples) {
    const std::span<const int32_t> prompt = set.prompt(example);
    prompts.emplace_back(prompt.begin(), prompt.end());
  }
  const auto total = static_cast<int64_t>(examples.size());
  // An answer that runs past the last position of a table is wrong in any case.
  const int64_t limit =
      std::min(options.max_total_tokens, decoder.encoding().position_limit().value_or(options.max_total_tokens));
  const auto answers = generate_answers(decoder, prompts, {.max_total_tokens = limit},
                                        [&](int64_t done) { progress.update(done, total, "generating answers"); });
  std::vector<bool> correct;
  for (size_t i = 0; i < answers.size(); ++i) {
    const std::span<const int32_t> gold = set.target(examples[i]);
    const std::span<const int32_t> gold_text = gold.first(gold.size() - 1);
    if (options.task == nullptr) {
      correct.push_back(std::equal(answers[i].begin(), answers[i].end(), gold_text.begin(), gold_text.end()));
    } else {
      const std::string given = vocabulary.decode(answers[i]);
      const std::string wanted = vocabulary.decode(gold_text);
      correct.push_back(options.task->answer(given) == options.task->answer(wanted));
    }
  }
  return correct;
}

SetAccuracy evaluate(const Decoder& decoder, Scorer& scorer, const Vocabulary& vocabulary, const TokenSet& set,
                     std::span<const int64_t> examples, const EvaluationOptions& options, Progress& progress) {
  // Losses always come from the gold prefix; whether an example counts as right may come from generation.
  const auto total = static_cast<int64_t>(examples.size());
  const std::vector<ExampleScore> scores =
      score_examples(scorer, set, examples, [&](int64_t done) { progress.update(done, total, "evaluating"); });
  std::vector<bool> correct;
  if (options.decoding == Decoding::greedy) {
    correct = greedy_correct(decoder, vocabulary, set, examples, options, progress);
  } else {
    for (const ExampleScore& score : scores) correct.push_back(score.exact);
  }
  SetAccuracy result;
  std::vector<Accuracy> categories(set.category_names.size());
  for (size_t i = 0; i < examples.size(); ++i) {
    const auto example = static_cast<size_t>(examples[i]);
    const Accuracy one{1, correct[i] ? 1 : 0, scores[i].targets, scores[i].loss};
    result.all.add(one);
    result.by_length[set.length[example]].add(one);
    categories[static_cast<size_t>(set.category[example])].add(one);
  }
  bool finer = false;
  for (size_t c = 0; c < categories.size(); ++c) {
    if (categories[c].count == 0) continue;
    result.by_category.emplace_back(set.category_names[c], categories[c]);
    finer = finer || set.category_names[c].find_first_not_of("0123456789") != std::string::npos;
  }
  if (!finer && result.by_category.size() == result.by_length.size()) result.by_category.clear();
  return result;
}

}  // namespace lengthwise
