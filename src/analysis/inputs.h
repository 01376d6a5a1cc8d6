#pragma once
/// The sequences that an analysis passes through a model: of the trained length and beyond it, once with the task's own
/// content and once with content exchanged.
///
/// `task`: test examples of the run's own data with their right answers, as teacher forcing reads them: everything but
/// the end marker. What stands where depends on the position there: prompts begin alike, and the separator stands near
/// the middle.
///
/// `exchanged`: sequences of the same numbers of tokens. The first token stays as it is, since every sequence begins
/// with it; all others are drawn independently of their place, each as often as it occurs in the task's sequences of
/// the trained length, but never a special token and never the first one again. So content tells nothing of position.
#include <cstdint>
#include <string>
#include <vector>

#include "analysis/subject.h"

namespace lengthwise {

enum class Content { task, exchanged };
std::string to_text(Content content);

struct InputSequence {
  std::vector<int64_t> tokens;  ///< inputs: without the end marker
  int64_t prompt_tokens = 0;    ///< how many stand before the answer
};

struct InputGroup {
  Content content = Content::task;
  int64_t length = 0;  ///< in the task's unit
  std::vector<InputSequence> sequences;

  int64_t longest() const;  ///< tokens of the longest sequence
};

struct InputOptions {
  std::string lengths = {};  ///< `20,40,80`; empty: once, twice and four times the longest of training
  int64_t sequences = 32;    ///< of each length, fewer where the data have fewer
  std::string content = "both";
  uint64_t seed = 1;
};

struct AnalysisInputs {
  std::vector<InputGroup> groups;  ///< by content, then by length, ascending
  int64_t trained_length = 0;
  int64_t trained_tokens = 0;      ///< of the longest sequence of the trained length: positions below it are inside
  std::vector<std::string> notes;  ///< which of the usual lengths were left out, and why
};

/// UserError when a length that was asked for does not exist or is more than the encoding can place. Of the usual
/// lengths, one that cannot be had gives way to the longest there is.
AnalysisInputs make_inputs(const Subject& subject, const InputOptions& options);

/// "20,40,80" ascending and without repetitions; UserError for anything else.
std::vector<int64_t> parse_lengths(const std::string& text);

}  // namespace lengthwise
