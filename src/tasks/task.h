#pragma once
/// What a task is: problems of a chosen length, their answers, and the words for both.
///
/// A task has a generator and, apart from it, a solver. The generator draws a problem and knows its answer by
/// construction or by arithmetic of its own; the solver parses a prompt of either wording and computes the answer
/// again. Tests hold the two against each other and against a third computation.
///
/// Adding a task: one file with a class derived from `Task` and a `make_...` function, and one line in registry.cc.
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/length_range.h"
#include "core/rng.h"
#include "tasks/answer.h"
#include "tasks/style.h"

namespace lengthwise {

enum class Split { train, validation, test };

std::string to_text(Split split);

/// One problem in words. Prompt and target are joined by one space in a sequence; runs of white space do not occur.
struct Example {
  std::string prompt;
  std::string target;
  int64_t length = 0;    ///< what train and test lengths speak of; the unit is TaskInfo::unit
  std::string category;  ///< finer than length where the paper is (`3-by-5` digits); otherwise the length
};

/// The name of a task and its split: the paper's, where it is one of the paper's tasks.
struct TaskInfo {
  std::string name;     ///< `copy-rsc`; the first variant of a family carries the family's name alone
  std::string summary;  ///< one line
  std::string group;    ///< the paper's category: `primitive`, `reasoning` or `classic`; others may stay empty
  std::string paper;    ///< data set and split in the authors' code: `s2s_copy/rsc_tr20_ts40`; empty: not in the paper
  std::string unit;     ///< what a length counts: `words`, `digits`
  LengthRange train;    ///< lengths of training and validation
  LengthRange test;     ///< lengths of the test set
  int64_t train_count = 100'000;
  std::optional<int64_t> validation_count = std::nullopt;  ///< empty: 15 % of train_count, drawn on top
  int64_t test_count = 10'000;
  bool scratchpad = false;                ///< has the components input, computation, output and remaining
  bool variables = false;                 ///< has the component variables too
  AnswerKind answer = AnswerKind::whole;  ///< what of a target counts as right or wrong
  int64_t data_version = 1;               ///< how often `generate` was written, up to the one that draws newly (Draw)
};

/// Examples of one length that are drawn together: a length, or a finer cell of it (the digits of both addends).
struct Bin {
  int64_t length = 0;
  int64_t first = 0;  ///< what the task makes of it; 0 where a length is one bin
  int64_t second = 0;
  int64_t count = 0;  ///< how many examples
};

/// Which example of which bin, and the random numbers of that bin.
struct Draw {
  Bin bin;
  int64_t index = 0;  ///< 0..bin.count-1
  Split split = Split::train;
  Rng rng{0};  ///< the bin's stream; `rng.at(index)` are the numbers of this example
  /// Which way of drawing: TaskInfo::data_version or an earlier one, so that what was trained on earlier data can still
  /// be resumed and scored. A task that has only one way need not look. 0: the newest.
  int64_t version = 0;
};

class Task {
 public:
  virtual ~Task() = default;

  virtual const TaskInfo& info() const = 0;

  /// Divides `count` examples over the lengths. By default equally over one bin per length, rounded down.
  /// Training and validation come out of one pool, planned once with the split `train`.
  virtual std::vector<Bin> plan(LengthRange lengths, int64_t count, Split split) const;

  /// Writes one example; `out` is reused so that no memory is allocated per example.
  virtual void generate(const Draw& draw, const Style& style, Example& out) const = 0;

  /// The target of a prompt, in the prompt's wording and with that scratchpad. Throws UserError that says what cannot
  /// be parsed. Never crashes, hangs or allocates out of proportion, whatever the input.
  virtual std::string solve(std::string_view prompt, const Scratchpad& scratchpad) const = 0;

  /// Texts that together contain every word and symbol of this task's prompts and targets, in both wordings and with
  /// every scratchpad, each symbol glued to its neighbours in every way that occurs. They make the vocabulary.
  virtual std::vector<std::string> lexicon() const = 0;

  /// The part of a target, or of what a model wrote instead, that counts: what follows the scratchpad, and of that the
  /// answer of the kind TaskInfo::answer. Answers are right or wrong by whether these texts are equal; nothing where
  /// there is none, which no target lacks.
  virtual std::optional<std::string> answer(std::string_view text) const;

  /// Which pieces of a sequence belong together: `pieces` are the texts of its tokens ("" for specials), of which the
  /// first `prompt` are the prompt, and `ids` gets a number from 1 on for each, the same for those that belong
  /// together; 0: to nothing. Of the target only what stands before a piece may decide, since it may be in the course
  /// of being written. By default nothing belongs together.
  virtual void couple(std::span<const std::string_view> pieces, size_t prompt, std::span<int32_t> ids) const;
  virtual bool couples() const { return false; }

  /// Whether what a model wrote has the answer of the target.
  bool is_right(std::string_view written, std::string_view target) const;
};

/// The length range split into bins of one length each, `count` divided equally and rounded down.
std::vector<Bin> equal_bins(LengthRange lengths, int64_t count);

/// As equal_bins but in proportion to the weights (one per length of the range), by largest remainder.
std::vector<Bin> weighted_bins(LengthRange lengths, int64_t count, const std::vector<double>& weights);

}  // namespace lengthwise
