#include "eval/evaluate.h"

#include "core/error.h"
#include "core/text.h"
#include "eval/engines.h"

namespace lengthwise {

namespace {

constexpr std::pair<Decoding, const char*> kDecodings[] = {{Decoding::teacher_forcing, "teacher-forcing"},
                                                           {Decoding::greedy_where_needed, "greedy-where-needed"},
                                                           {Decoding::greedy, "greedy"}};

/// What the model writes for each of these examples.
std::vector<std::vector<int32_t>> generate(const Decoder& decoder, const TokenSet& set,
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
  return generate_answers(decoder, prompts, {.max_total_tokens = limit},
                          [&](int64_t done) { progress.update(done, total, "generating answers"); });
}

}  // namespace

std::string to_text(Decoding decoding) {
  for (const auto& [known, name] : kDecodings) {
    if (known == decoding) return name;
  }
  return "";
}

void from_text(std::string_view text, Decoding& decoding) {
  std::vector<std::string> names;
  for (const auto& [known, name] : kDecodings) {
    if (text == name) {
      decoding = known;
      return;
    }
    names.emplace_back(name);
  }
  fail("'{}' is not a way to decode; there are {}{}", excerpt(text), join(names, ", "), did_you_mean(text, names));
}

EvaluationOptions default_evaluation(const ResolvedData& data) {
  EvaluationOptions options;
  const bool scratchpad = data.style.scratchpad.any();
  if (scratchpad) options.max_total_tokens = 1500;
  if (data.task != nullptr && (scratchpad || data.task->info().answer != AnswerKind::whole)) {
    options.decoding = Decoding::greedy_where_needed;
    options.task = data.task;
  }
  return options;
}

bool is_right(const Vocabulary& vocabulary, const TokenSet& set, int64_t example, std::span<const int32_t> written,
              const EvaluationOptions& options) {
  const std::span<const int32_t> target = set.target(example);
  const std::span<const int32_t> gold = target.first(target.size() - 1);
  if (options.task == nullptr) return std::equal(written.begin(), written.end(), gold.begin(), gold.end());
  return options.task->is_right(vocabulary.decode(written), vocabulary.decode(gold));
}

Judgement judge(const Decoder& decoder, Scorer& scorer, const Vocabulary& vocabulary, const TokenSet& set,
                std::span<const int64_t> examples, const EvaluationOptions& options, Progress& progress) {
  const auto total = static_cast<int64_t>(examples.size());
  Judgement judgement;
  judgement.scores =
      score_examples(scorer, set, examples, [&](int64_t done) { progress.update(done, total, "evaluating"); });
  const bool everything = options.decoding == Decoding::greedy;
  // A whole target that is not exact is wrong, whatever is generated.
  const bool inexact = options.decoding == Decoding::greedy_where_needed && options.task != nullptr;
  std::vector<size_t> places;
  std::vector<int64_t> generated;
  for (size_t i = 0; i < examples.size(); ++i) {
    const bool exact = judgement.scores[i].exact;
    judgement.right.push_back(exact);
    if (!everything && (exact || !inexact)) continue;
    places.push_back(i);
    generated.push_back(examples[i]);
  }
  const auto written = generate(decoder, set, generated, options, progress);
  for (size_t i = 0; i < places.size(); ++i)
    judgement.right[places[i]] = is_right(vocabulary, set, generated[i], written[i], options);
  return judgement;
}

SetAccuracy evaluate(const Decoder& decoder, Scorer& scorer, const Vocabulary& vocabulary, const TokenSet& set,
                     std::span<const int64_t> examples, const EvaluationOptions& options, Progress& progress) {
  const auto [scores, right] = judge(decoder, scorer, vocabulary, set, examples, options, progress);
  SetAccuracy result;
  std::vector<Accuracy> categories(set.category_names.size());
  for (size_t i = 0; i < examples.size(); ++i) {
    const auto example = static_cast<size_t>(examples[i]);
    const Accuracy one{1, right[i] ? 1 : 0, scores[i].targets, scores[i].loss};
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
