#include "analysis/inputs.h"

#include <algorithm>
#include <optional>
#include <set>

#include "core/error.h"
#include "core/rng.h"
#include "core/text.h"
#include "data/text_windows.h"
#include "eval/test_set.h"

namespace lengthwise {
namespace {

/// A length is drawn in bins that share its examples; enough of them that each gets some.
constexpr int64_t kDrawn = 1024;

/// Evenly out of all, so that every bin of a length is there.
std::vector<InputSequence> spread(const TokenSet& set, const std::vector<int64_t>& examples, int64_t wanted) {
  const auto there = static_cast<int64_t>(examples.size());
  const int64_t count = std::min(wanted, there);
  std::vector<InputSequence> sequences;
  for (int64_t i = 0; i < count; ++i) {
    const int64_t example = examples[static_cast<size_t>(i * there / count)];
    const TokenView tokens = set.sequence(example);
    const TokenView inputs = tokens.first(tokens.size() - 1);
    sequences.push_back({{inputs.begin(), inputs.end()}, set.prompt_tokens[static_cast<size_t>(example)]});
  }
  return sequences;
}

/// Where the sequences of a length come from: drawn anew, or out of the run's files, in which the trained lengths stand
/// in validation.
class Sequences {
 public:
  explicit Sequences(const Subject& subject) : subject_(subject) {
    const DataConfig& data = subject.run.config.data;
    if (!data.text.empty()) text_ = std::make_shared<const PreparedText>(open_text(data.text));
    if (data.data.empty() && data.corpus.empty()) return;
    const std::unique_ptr<ExampleSource> source = make_source(resolve(data));
    for (const Split split : {Split::validation, Split::test})
      stored_.push_back(build_token_set(*source, split, subject.run.vocabulary, frame_of(data)));
  }

  /// UserError where there are none.
  std::vector<InputSequence> of(int64_t length, int64_t count) const {
    std::vector<InputSequence> found = text_             ? windows(length, count)
                                       : stored_.empty() ? drawn(length, count)
                                                         : stored(length, count);
    check_places(length, found);
    return found;
  }

  /// The longest length that can be had for sure; 0 where nobody says.
  int64_t longest() const {
    const ResolvedData data = resolve(subject_.run.config.data);
    int64_t longest = data.test_lengths ? data.test_lengths->high : 0;
    for (const TokenSet& set : stored_) {
      for (const int32_t length : set.length) longest = std::max<int64_t>(longest, length);
    }
    return longest;
  }

 private:
  /// Whole windows of the test text.
  std::vector<InputSequence> windows(int64_t length, int64_t count) const {
    const bool cross = subject_.run.config.data.cross_documents;
    const TokenSet set = text_windows(text_->stream(TextSplit::test), {.context = length, .cross_documents = cross});
    std::vector<int64_t> whole;
    for (int64_t i = 0; i < set.size(); ++i) {
      if (set.window_tokens[static_cast<size_t>(i)] == length + 1) whole.push_back(i);
    }
    if (whole.empty()) fail("the test text of {} has no window of {} tokens", shown(subject_.folder), length);
    return spread(set, whole, count);
  }

  std::vector<InputSequence> drawn(int64_t length, int64_t count) const {
    const TestSetOptions options{
        .data = "", .lengths = LengthRange{length, length}, .count = std::max(count, kDrawn), .data_seed = {}};
    const TestSet test = make_test_set(subject_.run, options);
    std::vector<int64_t> all(static_cast<size_t>(test.tokens.size()));
    for (size_t i = 0; i < all.size(); ++i) all[i] = static_cast<int64_t>(i);
    return spread(test.tokens, all, count);
  }

  std::vector<InputSequence> stored(int64_t length, int64_t count) const {
    for (const TokenSet& set : stored_) {
      std::vector<int64_t> there;
      for (int64_t i = 0; i < set.size(); ++i) {
        if (set.length[static_cast<size_t>(i)] == length) there.push_back(i);
      }
      if (!there.empty()) return spread(set, there, count);
    }
    fail("the data of {} have no validation or test example of length {}", shown(subject_.folder), length);
  }

  void check_places(int64_t length, const std::vector<InputSequence>& sequences) const {
    const std::optional<int64_t> limit = subject_.model().position_limit();
    for (const InputSequence& sequence : sequences) {
      if (!limit || static_cast<int64_t>(sequence.tokens.size()) <= *limit) continue;
      fail("{} has {} positions, but an example of length {} has {} tokens; shorten --lengths",
           subject_.model().called(), *limit, length, sequence.tokens.size());
    }
  }

  const Subject& subject_;
  std::vector<TokenSet> stored_;              ///< validation and test; empty: examples are drawn
  std::shared_ptr<const PreparedText> text_;  ///< null: no text
};

/// The tokens that stand behind the first one in the task's sequences, as often as they do there.
std::vector<int64_t> content_pool(const std::vector<InputSequence>& sequences) {
  std::vector<int64_t> pool;
  for (const InputSequence& sequence : sequences) {
    for (const int64_t token : sequence.tokens) {
      if (token >= Vocabulary::kSpecials && token != sequence.tokens.front()) pool.push_back(token);
    }
  }
  if (pool.empty()) fail("the examples have no tokens that could be exchanged");
  return pool;
}

InputGroup exchanged(const InputGroup& group, const std::vector<int64_t>& pool, uint64_t seed) {
  InputGroup result{Content::exchanged, group.length, group.sequences};
  const Rng rng = Rng(seed).stream("exchanged").at(static_cast<uint64_t>(group.length)).stream("sequence");
  for (size_t i = 0; i < result.sequences.size(); ++i) {
    Rng own = rng.at(i);
    std::vector<int64_t>& tokens = result.sequences[i].tokens;
    for (size_t t = 1; t < tokens.size(); ++t) tokens[t] = pool[own.below(pool.size())];
  }
  return result;
}

/// Those of the usual lengths that can be had.
std::vector<InputGroup> usual(const Subject& subject, const Sequences& source, const InputOptions& options,
                              std::vector<std::string>& notes) {
  std::vector<InputGroup> groups;
  std::set<int64_t> tried;
  const auto add = [&](int64_t length) {
    if (!tried.insert(length).second) return;
    try {
      groups.push_back({Content::task, length, source.of(length, options.sequences)});
    } catch (const UserError& error) {
      notes.push_back(fmt::format("length {} was left out: {}", length, error.what()));
    }
  };
  const int64_t trained = subject.trained_length;
  for (const int64_t times : {1, 2, 4}) add(times * trained);
  const int64_t reached = groups.empty() ? trained : groups.back().length;
  if (groups.size() < 3 && source.longest() > reached) add(source.longest());
  return groups;
}

}  // namespace

std::string to_text(Content content) {
  return content == Content::task ? "task" : "exchanged";
}

int64_t InputGroup::longest() const {
  size_t longest = 0;
  for (const InputSequence& sequence : sequences) longest = std::max(longest, sequence.tokens.size());
  return static_cast<int64_t>(longest);
}

std::vector<int64_t> parse_lengths(const std::string& text) {
  std::set<int64_t> lengths;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    LengthRange range;
    try {
      from_text(trim(std::string_view(text).substr(begin, end - begin)), range);
    } catch (const UserError&) {
      range = {1, 2};
    }
    if (range.low != range.high)
      fail("--lengths must be lengths with commas between them, as 20,40,80, not '{}'", excerpt(text));
    lengths.insert(range.low);
    begin = end + 1;
  }
  return {lengths.begin(), lengths.end()};
}

AnalysisInputs make_inputs(const Subject& subject, const InputOptions& options) {
  if (options.content != "task" && options.content != "exchanged" && options.content != "both")
    fail("--content must be task, exchanged or both, not '{}'", excerpt(options.content));
  if (options.sequences < 1 || options.sequences > 100'000)
    fail("--sequences must be between 1 and 100000, not {}", options.sequences);
  const Sequences source(subject);
  AnalysisInputs inputs;
  inputs.trained_length = subject.trained_length;
  std::vector<InputGroup> groups;
  if (options.lengths.empty()) {
    groups = usual(subject, source, options, inputs.notes);
    if (groups.empty()) fail("{}: {}", shown(subject.folder), inputs.notes.front());
  } else {
    for (const int64_t length : parse_lengths(options.lengths))
      groups.push_back({Content::task, length, source.of(length, options.sequences)});
  }
  const std::vector<InputSequence> trained = groups.front().length == subject.trained_length
                                                 ? groups.front().sequences
                                                 : source.of(subject.trained_length, options.sequences);
  inputs.trained_tokens = InputGroup{Content::task, 0, trained}.longest();
  if (options.content != "exchanged") inputs.groups = groups;
  if (options.content != "task") {
    const std::vector<int64_t> pool = content_pool(trained);
    for (const InputGroup& group : groups) inputs.groups.push_back(exchanged(group, pool, options.seed));
  }
  return inputs;
}

}  // namespace lengthwise
