#include "results/perplexity_file.h"

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "core/files.h"
#include "core/progress.h"

namespace lengthwise {
namespace {

constexpr const char* kFormat = "lengthwise-perplexity";
constexpr int64_t kFormatVersion = 1;
constexpr int64_t kMostTokens = int64_t{1} << 44;

std::vector<PositionSum> read_positions(const JsonObject& row, int64_t window) {
  std::vector<PositionSum> positions;
  for (const Json& entry : row.array("positions")) {
    const JsonObject bin(entry, row.where());
    PositionSum& sum = positions.emplace_back();
    sum.from = bin.whole("from", positions.size() > 1 ? positions[positions.size() - 2].to + 1 : 1, window);
    sum.to = bin.whole("to", sum.from, window);
    sum.tokens = bin.whole("tokens", 1, kMostTokens);
    sum.nats = bin.find_number("nats", 0).value_or(HUGE_VAL);
  }
  return positions;
}

}  // namespace

ContextRow read_context_row(const Json& json, const std::string& where) {
  const JsonObject object(json, where);
  ContextRow row;
  row.selection = object.text("selection");
  row.step = object.whole("step", 0);
  row.encoding = object.text("encoding");
  row.encoding_label = object.find_text("encoding_label").value_or("");
  row.window = object.whole("window", 1, kMostTokens);
  row.stride = object.whole("stride", 1, row.window);
  row.crossed = object.text("documents") == "crossed";
  row.split = object.text("split");
  row.corpus = object.text("corpus");
  row.corpus_checksum = object.text("corpus_checksum");
  row.tokenizer = object.text("tokenizer");
  row.parameters = object.whole("parameters", 0);
  row.trained_context = object.whole("trained_context", 0, kMostTokens);
  row.batch_size = object.whole("batch_size", 0);
  row.precision = object.text("precision");
  row.tokens = object.whole("tokens", 1, kMostTokens);
  row.bytes = object.whole("bytes", 0, kMostTokens);
  row.nats = object.find_number("nats", 0).value_or(HUGE_VAL);
  row.positions = read_positions(object, row.window);
  int64_t tokens = 0;
  for (const PositionSum& bin : row.positions) tokens += bin.tokens;
  if (tokens != row.tokens) object.fail_at("positions", fmt::format("sums over the {} tokens", row.tokens));
  return row;
}

std::string protocol_line(const ContextRow& row) {
  return fmt::format(
      "{} text of {} ({}), {}; {} parameters, trained at {} ({} steps of {} windows), {} weights; window {}, stride {} "
      "({}); {} tokens scored: all but each document's <bos>, which stands at its beginning alone; documents {}; {}",
      row.split, row.corpus, row.corpus_checksum, row.tokenizer, format_count(static_cast<double>(row.parameters)),
      row.trained_context, row.step, row.batch_size, row.selection, row.window, row.stride,
      row.slides() ? "sliding" : "no overlap", row.tokens, row.crossed ? "crossed" : "apart", row.precision);
}

std::vector<ContextRow> parse_perplexity(std::string_view text, const std::string& where) {
  const Json json = parse_json(text, where);
  const JsonObject object(json, where);
  check_seal(json, where);
  if (object.find_text("format") != kFormat) fail("{} is not the perplexity of a run", where);
  if (object.whole("version", 1) > kFormatVersion) fail("{} was written by a later version", where);
  std::vector<ContextRow> rows;
  for (const Json& entry : object.array("rows")) rows.push_back(read_context_row(entry, where));
  return rows;
}

std::vector<ContextRow> read_perplexity(const std::filesystem::path& run, const std::string& weights,
                                        int64_t last_step) {
  const std::filesystem::path path = run / "perplexity.json";
  if (!is_there(path)) return {};
  std::vector<ContextRow> rows = parse_perplexity(read_file(path), shown(path));
  const auto is_wanted = [&](const ContextRow& row) { return row.selection == weights; };
  const bool once = weights == "last" && std::none_of(rows.begin(), rows.end(), is_wanted);
  std::erase_if(rows, [&](const ContextRow& row) { return !is_wanted(row) && !(once && row.step == last_step); });
  return rows;
}

}  // namespace lengthwise
