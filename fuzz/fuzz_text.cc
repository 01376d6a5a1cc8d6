#include "fuzz/fuzz_text.h"

#include <string_view>

#include "core/error.h"
#include "core/text.h"
#include "data/jsonl.h"
#include "data/vocabulary.h"
#include "results/perplexity_file.h"
#include "results/read_scores.h"
#include "results/tidy.h"
#include "tasks/registry.h"
#include "text/manifest.h"

namespace lengthwise::fuzz {
namespace {

void read_line(std::string_view text) {
  Example example;
  parse_jsonl_line(text, example);
  std::string line;
  append_jsonl(line, example);
  line.pop_back();
  Example again;
  parse_jsonl_line(line, again);
  LENGTHWISE_CHECK(example.prompt == again.prompt && example.target == again.target && example.length == again.length &&
                       example.category == again.category,
                   "a line changed: {}", line);
}

void read_vocabulary(std::string_view text) {
  const Vocabulary vocabulary = Vocabulary::from_json(text, "input");
  LENGTHWISE_CHECK(Vocabulary::from_json(vocabulary.to_json(), "output") == vocabulary, "a vocabulary changed");
}

void read_table(std::string_view text) {
  const std::string table = tidy_csv(parse_scores(text, "input"));
  LENGTHWISE_CHECK(tidy_csv(parse_scores(table, "output")) == table, "a table changed");
}

void read_manifest_text(std::string_view text) {
  const TextManifest manifest = parse_manifest(text, "input");
  const std::string written = manifest_text(manifest);
  LENGTHWISE_CHECK(manifest_text(parse_manifest(written, "output")) == written, "a manifest changed");
  for (const SplitManifest& split : manifest.splits) {
    LENGTHWISE_CHECK(split.longest_document <= split.tokens, "a document longer than its split");
    for (const TextFile& shard : split.shards)
      LENGTHWISE_CHECK(shard.file.find('/') == std::string::npos, "a shard elsewhere: {}", shard.file);
  }
}

void read_losses(std::string_view text) {
  for (const ContextRow& row : parse_perplexity(text, "input")) {
    int64_t tokens = 0;
    for (const PositionSum& bin : row.positions) tokens += bin.tokens;
    LENGTHWISE_CHECK(tokens == row.tokens && row.stride <= row.window, "sums that do not add up");
    LENGTHWISE_CHECK(!protocol_line(row).empty(), "a row without a protocol");
  }
}

/// Of every task, in both wordings.
const std::vector<std::vector<Vocabulary>>& vocabularies() {
  static const std::vector<std::vector<Vocabulary>> all = [] {
    std::vector<std::vector<Vocabulary>> list;
    for (const auto& task : tasks()) {
      list.push_back({Vocabulary(*task, Wording::printed), Vocabulary(*task, Wording::released)});
    }
    return list;
  }();
  return all;
}

void check_round_trip(const std::vector<Vocabulary>& of_a_task, std::string_view text) {
  for (const Vocabulary& vocabulary : of_a_task) {
    std::vector<int32_t> ids;
    try {
      vocabulary.encode(text, ids);
    } catch (const UserError&) {
      continue;  // a word that the vocabulary does not have
    }
    LENGTHWISE_CHECK(vocabulary.decode(ids) == collapse_spaces(text), "encoding lost something");
  }
}

void solve(size_t task, uint8_t components, std::string_view prompt) {
  Scratchpad scratchpad;
  scratchpad.input = (components & 1) != 0;
  scratchpad.computation = (components & 2) != 0;
  scratchpad.output = (components & 4) != 0;
  scratchpad.variables = (components & 8) != 0;
  scratchpad.remaining = (components & 16) != 0;
  check_round_trip(vocabularies()[task], prompt);
  tasks()[task]->answer(prompt);
  const std::string target = tasks()[task]->solve(prompt, scratchpad);
  LENGTHWISE_CHECK(tasks()[task]->is_right(target, target), "a target without an answer");
  check_round_trip(vocabularies()[task], target);
}

}  // namespace
}  // namespace lengthwise::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace lengthwise;
  using namespace lengthwise::fuzz;
  if (size < 2) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 2, size - 2);
  try {
    if (data[0] == kJsonl) {
      read_line(text);
    } else if (data[0] == kVocabulary) {
      read_vocabulary(text);
    } else if (data[0] == kScores) {
      read_table(text);
    } else if (data[0] == kManifest) {
      read_manifest_text(text);
    } else if (data[0] == kPerplexity) {
      read_losses(text);
    } else {
      solve((data[0] - kFirstTask) % tasks().size(), data[1], text);
    }
  } catch (const UserError& error) {
    const std::string_view reason = error.what();
    LENGTHWISE_CHECK(!reason.empty() && reason.find('\n') == std::string_view::npos, "not one line: {}", reason);
  }
  return 0;
}
