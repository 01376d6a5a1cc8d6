#include "data/data_config.h"

#include <algorithm>

#include "core/error.h"
#include "tasks/registry.h"
#include "tasks/scratchpad_check.h"

namespace lengthwise {
namespace {

/// Far beyond any study; keeps a slip of the keyboard from filling the memory.
constexpr int64_t kMostExamples = 100'000'000;
constexpr int64_t kLongestDrawn = 10'000;

void check_count(const char* option, std::optional<int64_t> count) {
  if (!count || (*count >= 0 && *count <= kMostExamples)) return;
  fail("--{} {} is not possible; it must lie between 0 and {}", option, *count, kMostExamples);
}

void check_lengths(const char* option, std::optional<LengthRange> lengths) {
  if (!lengths || lengths->high <= kLongestDrawn) return;
  fail("--{} {} is too long; examples are drawn up to length {}", option, to_text(*lengths), kLongestDrawn);
}

/// The names of formats are the same for every task, so `full` on a task without variables is full without them; but
/// who spells out `i0_c1_o1_v1_r0` there has something else in mind.
void check_variables(const TaskInfo& info, Scratchpad format) {
  if (!info.scratchpad || info.variables || !format.variables) return;
  for (const NamedScratchpad& named : named_scratchpads()) {
    if (named.format == format) return;
  }
  Scratchpad without = format;
  without.variables = false;
  fail("the scratchpad of {} carries no variables; --scratchpad {} would be right", info.name, to_text(without));
}

void copy_choices(const DataConfig& config, ResolvedData& resolved) {
  resolved.train_lengths = config.train_lengths;
  resolved.test_lengths = config.test_lengths;
  resolved.train_count = config.train_count;
  resolved.validation_count = config.validation_count;
  resolved.test_count = config.test_count;
}

ResolvedData resolve_task(const DataConfig& config) {
  ResolvedData resolved;
  resolved.task = &find_task(config.task);
  const TaskInfo& info = resolved.task->info();
  if (!config.corpus.empty() && info.name != "pcfg") {
    fail("--corpus goes with --task pcfg; the task {} has no corpus", info.name);
  }
  resolved.corpus = config.corpus;
  const int64_t longest =
      std::max(config.train_lengths.value_or(info.train).high, config.test_lengths.value_or(info.test).high);
  check_variables(info, config.scratchpad);
  resolved.style = {config.wording, checked_scratchpad(info, config.scratchpad, longest)};
  if (!resolved.corpus.empty()) {
    // A corpus has the examples it has: lengths and counts only choose among them.
    copy_choices(config, resolved);
    return resolved;
  }
  check_lengths("train-lengths", config.train_lengths);
  check_lengths("test-lengths", config.test_lengths);
  resolved.train_lengths = config.train_lengths.value_or(info.train);
  resolved.test_lengths = config.test_lengths.value_or(info.test);
  resolved.train_count = config.train_count.value_or(info.train_count);
  resolved.validation_count = config.validation_count ? config.validation_count : info.validation_count;
  resolved.test_count = config.test_count.value_or(info.test_count);
  return resolved;
}

ResolvedData resolve_folder(const DataConfig& config) {
  if (!config.corpus.empty()) fail("--corpus goes with --task pcfg, not with --data");
  if (config.scratchpad.any()) fail("--scratchpad goes with --task; the targets of --data are used as they are");
  if (config.wording != Wording::printed) fail("--wording goes with --task; the texts of --data are used as they are");
  ResolvedData resolved;
  resolved.folder = config.data;
  copy_choices(config, resolved);
  return resolved;
}

}  // namespace

ResolvedData resolve(const DataConfig& config) {
  if (config.task.empty() && config.data.empty()) {
    fail("no data: name a task with --task, or a folder of JSONL files with --data");
  }
  if (!config.task.empty() && !config.data.empty()) fail("--task and --data exclude each other; give one of them");
  check_count("train-count", config.train_count);
  check_count("validation-count", config.validation_count);
  check_count("test-count", config.test_count);
  if (config.data_seed < 0) fail("--data-seed {} is negative", config.data_seed);
  ResolvedData resolved = config.task.empty() ? resolve_folder(config) : resolve_task(config);
  resolved.seed = static_cast<uint64_t>(config.data_seed);
  resolved.dedup = config.dedup;
  resolved.version = config.data_version.value_or(kNewestDraw);
  if (resolved.version < 1 || resolved.version > kNewestDraw) {
    fail("--data-version {} is not known; there are 1 to {}", resolved.version, kNewestDraw);
  }
  return resolved;
}

Frame frame_of(const DataConfig& config) {
  const bool released = !config.task.empty() && config.wording == Wording::released;
  return {.bos = !released, .sep = !released};
}

}  // namespace lengthwise
