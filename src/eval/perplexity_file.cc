#include "results/perplexity_file.h"

#include "core/error.h"
#include "core/files.h"
#include "core/json.h"
#include "core/progress.h"
#include "eval/perplexity.h"

namespace lengthwise {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFormat = "lengthwise-perplexity";
constexpr int64_t kFormatVersion = 1;

/// What must differ for two numbers to stand side by side.
constexpr const char* kKeys[] = {"selection", "encoding",  "protocol", "window",
                                 "stride",    "documents", "split",    "corpus_checksum"};

Json row_of(const ContextProtocol& protocol, const ContextScore& score) {
  Json positions = Json::array();
  for (const PositionLoss& bin : score.positions) {
    positions.push_back({{"from", bin.from}, {"to", bin.to}, {"tokens", bin.sum.tokens}, {"nats", bin.sum.nats}});
  }
  return {{"selection", protocol.selection},
          {"step", protocol.step},
          {"encoding", protocol.encoding},
          {"encoding_label", protocol.encoding_label},
          {"protocol", score.protocol()},
          {"window", score.window},
          {"stride", score.stride},
          {"documents", protocol.cross_documents ? "crossed" : "apart"},
          {"split", protocol.split},
          {"corpus", protocol.corpus},
          {"corpus_checksum", protocol.corpus_checksum},
          {"tokenizer", protocol.tokenizer},
          {"parameters", protocol.parameters},
          {"trained_context", protocol.trained_context},
          {"batch_size", protocol.batch_size},
          {"precision", protocol.precision},
          {"tokens", score.sum.tokens},
          {"bytes", score.bytes},
          {"correct", score.correct},
          {"nats", score.sum.nats},
          {"nats_per_token", score.sum.mean()},
          {"perplexity", score.perplexity()},
          {"bits_per_byte", score.bits_per_byte()},
          {"positions", positions}};
}

bool same_measure(const Json& a, const Json& b) {
  return std::all_of(std::begin(kKeys), std::end(kKeys),
                     [&](const char* key) { return a.contains(key) && b.contains(key) && a[key] == b[key]; });
}

/// Rows that are there already; a file that is damaged or of another version gives way, since it can be measured again.
Json read_rows(const fs::path& path) {
  if (!is_there(path)) return Json::array();
  try {
    Json json = parse_json(read_file(path), shown(path));
    const JsonObject object(json, shown(path));
    check_seal(json, shown(path));
    if (object.text("format") == kFormat && object.whole("version") == kFormatVersion) return object.array("rows");
  } catch (const UserError&) {
    return Json::array();
  }
  return Json::array();
}

}  // namespace

std::string protocol_line(const ContextProtocol& protocol, const ContextScore& score) {
  return protocol_line(read_context_row(row_of(protocol, score), "a row"));
}

std::string context_json(const ContextProtocol& protocol, const ContextScore& score) {
  return json_text(row_of(protocol, score));
}

void record_contexts(const fs::path& run, const ContextProtocol& protocol, const std::vector<ContextScore>& scores) {
  const fs::path path = run / "perplexity.json";
  Json rows = read_rows(path);
  for (const ContextScore& score : scores) {
    Json row = row_of(protocol, score);
    bool placed = false;
    for (Json& old : rows) {
      if (!same_measure(old, row)) continue;
      old = row;
      placed = true;
    }
    if (!placed) rows.push_back(std::move(row));
  }
  Json json = {{"format", kFormat}, {"version", kFormatVersion}, {"rows", std::move(rows)}};
  seal(json);
  write_file(path, json_text(json, 1) + "\n");
}

}  // namespace lengthwise
