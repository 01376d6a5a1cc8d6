#include "data/data_config.h"

#include <algorithm>
#include <limits>

#include "core/error.h"
#include "core/text.h"
#include "tasks/registry.h"
#include "tasks/scratchpad_check.h"

namespace lengthwise {
namespace {

/// Far beyond any study; keeps a slip of the keyboard from filling the memory.
constexpr int64_t kMostExamples = 100'000'000;
constexpr int64_t kLongestDrawn = 10'000;
constexpr int64_t kLongestContext = int64_t{1} << 20;
constexpr int64_t kDefaultContext = 512;

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

ResolvedData resolve_text(const DataConfig& config) {
  const auto refuse = [](bool given, const char* option) {
    if (given) fail("--{} does not go with --text", option);
  };
  refuse(!config.corpus.empty(), "corpus");
  refuse(config.scratchpad.any(), "scratchpad");
  refuse(config.wording != Wording::printed, "wording");
  refuse(config.train_lengths.has_value(), "train-lengths");
  refuse(config.test_lengths.has_value(), "test-lengths");
  refuse(config.dedup, "dedup");
  ResolvedData resolved;
  resolved.text = config.text;
  resolved.context = config.context == 0 ? kDefaultContext : config.context;
  if (resolved.context < 1 || resolved.context > kLongestContext) {
    fail("--context must be between 1 and {}, not {}", kLongestContext, resolved.context);
  }
  resolved.contexts = config.contexts.empty()
                          ? std::vector<int64_t>{resolved.context, 2 * resolved.context, 4 * resolved.context}
                          : read_contexts(config.contexts);
  resolved.cross_documents = config.cross_documents;
  copy_choices(config, resolved);
  return resolved;
}

}  // namespace

std::vector<int64_t> read_contexts(std::string_view text) {
  std::vector<int64_t> contexts;
  for (size_t at = 0; at <= text.size();) {
    const size_t comma = std::min(text.find(',', at), text.size());
    int64_t context = 0;
    try {
      from_text(trim(text.substr(at, comma - at)), context);
    } catch (const UserError&) {
      context = 0;
    }
    if (context < 1 || context > kLongestContext) {
      fail("--contexts '{}' is no list of numbers of tokens between 1 and {}; 128,256 would be one", excerpt(text),
           kLongestContext);
    }
    contexts.push_back(context);
    at = comma + 1;
  }
  std::sort(contexts.begin(), contexts.end());
  contexts.erase(std::unique(contexts.begin(), contexts.end()), contexts.end());
  return contexts;
}

std::string contexts_text(const std::vector<int64_t>& contexts) {
  std::vector<std::string> parts;
  parts.reserve(contexts.size());
  for (const int64_t context : contexts) parts.push_back(to_text(context));
  return join(parts, ",");
}

const std::string& data_name(const DataConfig& config) {
  return !config.task.empty() ? config.task : !config.text.empty() ? config.text : config.data;
}

int64_t ResolvedData::test_tokens() const {
  return test_count ? *test_count * context + 1 : std::numeric_limits<int64_t>::max();
}

ResolvedData resolve(const DataConfig& config) {
  const int given = (config.task.empty() ? 0 : 1) + (config.data.empty() ? 0 : 1) + (config.text.empty() ? 0 : 1);
  if (given == 0) {
    fail("no data: name a task with --task, a folder of JSONL files with --data, or prepared text with --text");
  }
  if (!config.task.empty() && !config.data.empty()) fail("--task and --data exclude each other; give one of them");
  if (given > 1) {
    fail("--text and --{} exclude each other; give one of them", config.task.empty() ? "data" : "task");
  }
  if (config.text.empty()) {
    const char* option = config.context != 0        ? "context"
                         : !config.contexts.empty() ? "contexts"
                         : config.cross_documents   ? "cross-documents"
                                                    : nullptr;
    if (option != nullptr) fail("--{} goes with --text", option);
  }
  check_count("train-count", config.train_count);
  check_count("validation-count", config.validation_count);
  check_count("test-count", config.test_count);
  if (config.data_seed < 0) fail("--data-seed {} is negative", config.data_seed);
  ResolvedData resolved = !config.text.empty()  ? resolve_text(config)
                          : config.task.empty() ? resolve_folder(config)
                                                : resolve_task(config);
  resolved.seed = static_cast<uint64_t>(config.data_seed);
  resolved.dedup = config.dedup;
  resolved.version = config.data_version.value_or(kNewestDraw);
  if (resolved.version < 1 || resolved.version > kNewestDraw) {
    fail("--data-version {} is not known; there are 1 to {}", resolved.version, kNewestDraw);
  }
  return resolved;
}

Frame frame_of(const DataConfig& config) {
  if (!config.text.empty()) return {.bos = true, .sep = false};
  const bool released = !config.task.empty() && config.wording == Wording::released;
  return {.bos = !released, .sep = !released};
}

}  // namespace lengthwise
