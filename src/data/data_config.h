#pragma once
/// Which data: a task and how to put it into words, a folder of the user's own, or prepared text; how many examples of
/// which lengths.
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/config.h"
#include "core/length_range.h"
#include "tasks/style.h"
#include "tasks/task.h"

namespace lengthwise {

struct DataConfig {
  std::string task;
  std::string data;
  std::string corpus;
  Wording wording = Wording::printed;
  Scratchpad scratchpad;
  std::optional<LengthRange> train_lengths;
  std::optional<LengthRange> test_lengths;
  std::optional<int64_t> train_count;
  std::optional<int64_t> validation_count;
  std::optional<int64_t> test_count;
  int64_t data_seed = 9842497;  ///< the study's
  std::optional<int64_t> data_version;
  bool dedup = false;
  std::string text;
  int64_t context = 0;
  std::string contexts;
  bool cross_documents = false;

  template <class Visitor>
  void visit(Visitor&& field) {
    field("task", task, "what to learn; `lengthwise tasks` lists the names");
    field("data", data, "instead of a task: a folder with train.jsonl, validation.jsonl and test.jsonl");
    field("corpus", corpus, "with the task pcfg: a folder with the public PCFG SET files, instead of drawing");
    field("wording", wording, "printed (as in the paper's text) or released (as the study's models read it)");
    field("scratchpad", scratchpad, "steps before the answer: none, full, minimal, no-input, ..., or input,output");
    field("train-lengths", train_lengths, "LOW:HIGH of training and validation; by default the task's");
    field("test-lengths", test_lengths, "LOW:HIGH of the test set; by default the task's");
    field("train-count", train_count, "training examples; by default the task's");
    field("validation-count", validation_count, "validation examples; by default 15 % of training, drawn on top");
    field("test-count", test_count, "test examples, divided equally over the lengths; by default the task's");
    field("data-seed", data_seed, "seed of the examples");
    field("data-version", data_version, "1: draw as the first version did, to go on with its runs; by default newly");
    field("dedup", dedup, "drop validation and test examples whose prompt stands in training");
    field("text", text,
          "instead of a task: a folder of text that `lengthwise text prepare` made; counts are of windows");
    field("context", context, "with --text: tokens of a window; 0: 512");
    field("contexts", contexts,
          "with --text: contexts to measure the test text at, as 512,1024; by default 1, 2 and 4 times --context");
    field("cross-documents", cross_documents, "with --text: windows reach over the ends of documents");
  }
};

/// A DataConfig that was found to make sense, with the task's own numbers where the user gave none.
struct ResolvedData {
  const Task* task = nullptr;     ///< null: the user's own data
  std::filesystem::path folder;   ///< of the user's own data
  std::filesystem::path corpus;   ///< empty: examples are drawn
  std::filesystem::path text;     ///< of prepared text; then there is no task, and counts are of windows
  int64_t context = 0;            ///< tokens of a window
  std::vector<int64_t> contexts;  ///< of the test, ascending
  bool cross_documents = false;
  Style style;
  /// Files (the user's own data, or a corpus) have the examples they have: there, each of these is empty unless the
  /// user gave it, empty means all, and lengths and counts choose among what the files hold. Otherwise only
  /// `validation_count` can be empty, which means what a pool of 15 % more than `train_count` leaves.
  std::optional<LengthRange> train_lengths;
  std::optional<LengthRange> test_lengths;
  std::optional<int64_t> train_count;
  std::optional<int64_t> validation_count;
  std::optional<int64_t> test_count;
  uint64_t seed = 0;
  bool dedup = false;
  int64_t version = 0;  ///< of the way of drawing: 1 to kNewestDraw

  /// How many tokens of the test text are looked at, at every context the same.
  int64_t test_tokens() const;
};

/// Version 2 draws the test problems of copy-rsc, copy-rsc2x and copy-rdc without replacement, draws pcfg by a grammar
/// that resembles the corpus (tasks/pcfg_grammar.h), and keeps examples for validation where a task has fewer than were
/// asked for (task_source.h). Everything else is as in version 1.
inline constexpr int64_t kNewestDraw = 2;

/// `128,256` as numbers, ascending. UserError that names the option for anything else, and for contexts of none or more
/// than a million tokens.
std::vector<int64_t> read_contexts(std::string_view text);
std::string contexts_text(const std::vector<int64_t>& contexts);

/// What the data are called: the task, or the folder as it was given.
const std::string& data_name(const DataConfig& config);

/// Throws UserError that says which option is wrong and what would be right.
ResolvedData resolve(const DataConfig& config);

/// Which special tokens stand around prompt and target:
///
///     [<bos>] prompt [<sep>] target <eos>
///
/// The released wording has neither, as in the study: its prompts begin with a constant word and, where the study used
/// a separator, end with `[SEP]`. Everything else has both.
struct Frame {
  bool bos = true;
  bool sep = true;
  bool operator==(const Frame&) const = default;
};

Frame frame_of(const DataConfig& config);

}  // namespace lengthwise
