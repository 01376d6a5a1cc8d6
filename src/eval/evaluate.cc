#include "eval/evaluate.h"

#include "core/error.h"
#include "core/text.h"
#include "eval/engines.h"

namespace lengthwise {

namespace {

constexpr std::pair<Decoding, const char*> kDecodings[] = {{Decoding::teacher_forcing, "teacher-forcing"},
                                                           {Decoding::greedy_where_needed, "greedy-where-needed"},
                                                           {Decoding::greedy, "greedy"}};

std::string of_subject(const EvaluationOptions& options) {
  return options.subject.empty() ? std::string() : ": " + options.subject;
}

/// The beginning of what a model writes, without the end marker.
struct Writing {
  size_t place;  ///< of the example, among those that are judged
  std::vector<int32_t> tokens;
  bool ended = false;
};

/// What greedy decoding writes first, as far as teacher forcing shows it.
Writing begin_writing(size_t place, std::span<const int32_t> target, const ExampleScore& score) {
  Writing writing{place, {target.begin(), target.begin() + score.agreed}};
  writing.ended = score.chosen == Vocabulary::kEos;
  if (!writing.ended) writing.tokens.push_back(score.chosen);
  return writing;
}

/// Writes on until everything has ended.
void write_on(Model& model, const TokenSet& set, std::span<const int64_t> examples, const EvaluationOptions& options,
              std::vector<Writing>& writings, Progress& progress) {
  // An answer that runs past the last position of a table is wrong in any case.
  const int64_t limit = std::min(options.max_total_tokens, model.position_limit().value_or(options.max_total_tokens));
  std::vector<std::vector<int32_t>> texts;
  std::vector<int64_t> prompts;
  std::vector<size_t> unfinished;
  for (size_t i = 0; i < writings.size(); ++i) {
    Writing& writing = writings[i];
    const std::span<const int32_t> prompt = set.prompt(examples[writing.place]);
    const auto room = static_cast<size_t>(std::max<int64_t>(0, limit - static_cast<int64_t>(prompt.size())));
    if (writing.tokens.size() >= room) {
      writing.tokens.resize(room);
      writing.ended = true;
    }
    if (writing.ended) continue;
    unfinished.push_back(i);
    prompts.push_back(std::ssize(prompt));
    texts.emplace_back(prompt.begin(), prompt.end())
        .insert(texts.back().end(), writing.tokens.begin(), writing.tokens.end());
  }
  const auto total = static_cast<int64_t>(texts.size());
  const auto written = generate_answers(
      model, texts, {.max_total_tokens = limit, .precision = options.precision, .prompt_tokens = prompts},
      [&](int64_t done) { progress.update(done, total, "generating answers" + of_subject(options)); });
  for (size_t i = 0; i < unfinished.size(); ++i) {
    std::vector<int32_t>& tokens = writings[unfinished[i]].tokens;
    tokens.insert(tokens.end(), written[i].begin(), written[i].end());
  }
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

Accuracy longer_than(const SetAccuracy& set, int64_t limit) {
  Accuracy longer;
  for (auto length = set.by_length.upper_bound(limit); length != set.by_length.end(); ++length)
    longer.add(length->second);
  return longer;
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

Judgement judge(Model& model, Scorer& scorer, const Vocabulary& vocabulary, const TokenSet& set,
                std::span<const int64_t> examples, const EvaluationOptions& options, Progress& progress) {
  const auto total = static_cast<int64_t>(examples.size());
  Judgement judgement;
  judgement.scores = score_examples(
      scorer, set, examples, [&](int64_t done) { progress.update(done, total, "evaluating" + of_subject(options)); });
  const bool everything = options.decoding == Decoding::greedy;
  // A whole target that is not exact is wrong, whatever is generated.
  const bool inexact = options.decoding == Decoding::greedy_where_needed && options.task != nullptr;
  std::vector<Writing> writings;
  for (size_t i = 0; i < examples.size(); ++i) {
    const ExampleScore& score = judgement.scores[i];
    judgement.right.push_back(score.exact);
    if (everything) {
      writings.push_back({i, {}});
    } else if (inexact && !score.exact) {
      writings.push_back(begin_writing(i, set.target(examples[i]), score));
    }
  }
  write_on(model, set, examples, options, writings, progress);
  for (const Writing& writing : writings) {
    judgement.right[writing.place] = is_right(vocabulary, set, examples[writing.place], writing.tokens, options);
  }
  return judgement;
}

SetAccuracy evaluate(Model& model, Scorer& scorer, const Vocabulary& vocabulary, const TokenSet& set,
                     std::span<const int64_t> examples, const EvaluationOptions& options, Progress& progress) {
  const auto [scores, right] = judge(model, scorer, vocabulary, set, examples, options, progress);
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
