#include "ledger/entry.h"

#include <algorithm>
#include <cmath>

#include "core/config.h"
#include "core/error.h"
#include "core/files.h"
#include "core/json.h"
#include "results/load_results.h"

namespace lengthwise {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFormat = "lengthwise-ledger";
constexpr int kVersion = 1;

LedgerWeights weights_of(const StoredRun& run) {
  LedgerWeights weights;
  weights.step = run.weights_step;
  for (const LengthResult& row : run.lengths) {
    LedgerSet& set = row.counts.validation ? weights.trained : weights.longer;
    set.lengths.push_back({row.counts.length, row.counts.count, row.counts.correct});
  }
  return weights;
}

/// Who made the run (docs/formats.md), and how long training took.
void read_origin(const fs::path& run, const GivenOrigin& given, LedgerEntry& entry) {
  const fs::path path = run / "origin.json";
  if (!is_there(path) && !given.commit.empty() && !given.machine.empty()) {
    entry.commit = given.commit;
    entry.machine = given.machine;
    entry.recorded = false;
    return;
  }
  if (!is_there(path)) {
    fail(
        "{} does not say by which commit and on which machine it was made, as an older program wrote it; say it with "
        "--commit and --machine",
        shown(run));
  }
  const Json json = parse_json(read_file(path), shown(path));
  const JsonObject origin(json, shown(path));
  entry.commit = origin.text("commit");
  entry.machine = origin.text("machine");
  entry.seconds = entry.machine_seconds = origin.number("seconds", 0);
  if (entry.commit == "unknown") {
    fail("{} was made by a program that does not know its commit; build it with -DLENGTHWISE_COMMIT=...", shown(run));
  }
}

/// What only the study knows: the time with evaluation, and the run's share of the machine's.
void read_times(const fs::path& study, std::vector<LedgerEntry>& entries) {
  const fs::path path = study / "study.json";
  if (!is_there(path)) return;
  const Json json = parse_json(read_file(path), shown(path));
  const JsonObject content(json, shown(path));
  for (const Json& listed : content.array("runs")) {
    const JsonObject run(listed, shown(path));
    const auto entry = std::find_if(entries.begin(), entries.end(),
                                    [&](const LedgerEntry& candidate) { return candidate.run == run.text("name"); });
    if (entry == entries.end()) continue;
    entry->seconds = std::max(entry->seconds, run.find_number("seconds", 0).value_or(0));
    entry->machine_seconds = run.find_number("machine_seconds", 0).value_or(entry->seconds);
  }
}

Json json_of(const LedgerSet& set) {
  Json lengths = Json::object();
  for (const LedgerLength& row : set.lengths) lengths[std::to_string(row.length)] = {row.correct, row.count};
  return {{"accuracy", set.count() == 0 ? Json() : Json(set.share())},
          {"count", set.count()},
          {"correct", set.correct()},
          {"by_length", lengths}};
}

Json json_of(const LedgerWeights& weights) {
  return {{"step", weights.step},
          {"in_distribution", json_of(weights.trained)},
          {"out_of_distribution", json_of(weights.longer)}};
}

LedgerSet parse_set(const JsonObject& json) {
  LedgerSet set;
  const JsonObject by_length = json.object("by_length");
  for (const auto& [length, counts] : by_length.members()) {
    if (!counts.is_array() || counts.size() != 2 || !counts[0].is_number_integer() || !counts[1].is_number_integer())
      json.fail_at("by_length", "an object from lengths to [correct, count]");
    LedgerLength row{0, counts[1].get<int64_t>(), counts[0].get<int64_t>()};
    from_text(length, row.length);
    if (row.correct < 0 || row.correct > row.count)
      fail("{}: {} of {} cannot be right", json.where(), row.correct, row.count);
    set.lengths.push_back(row);
  }
  return set;
}

LedgerWeights parse_weights(const JsonObject& json) {
  return {json.whole("step", 0), parse_set(json.object("in_distribution")),
          parse_set(json.object("out_of_distribution"))};
}

}  // namespace

int64_t LedgerSet::count() const {
  int64_t sum = 0;
  for (const LedgerLength& row : lengths) sum += row.count;
  return sum;
}

int64_t LedgerSet::correct() const {
  int64_t sum = 0;
  for (const LedgerLength& row : lengths) sum += row.correct;
  return sum;
}

double LedgerSet::share() const {
  return count() == 0 ? std::nan("") : static_cast<double>(correct()) / static_cast<double>(count());
}

const std::string& LedgerEntry::option(const std::string& name) const {
  static const std::string none;
  const auto found = options.find(name);
  return found == options.end() ? none : found->second;
}

NewEntries entries_of(const fs::path& folder, const GivenOrigin& given) {
  const Results best = load_results(folder, {.weights = "best"});
  const Results last = load_results(folder, {.weights = "last"});
  NewEntries result;
  for (size_t i = 0; i < best.runs.size(); ++i) {
    const StoredRun& run = best.runs[i];
    if (run.state != StoredState::finished) {
      if (is_there(run.folder / "summary.json")) fail("{}: {}", shown(run.folder), run.reason);
      ++result.unfinished;
      continue;
    }
    LedgerEntry entry;
    entry.run = fs::path(run.name).filename().string();
    entry.program = run.program;
    for (const auto& [option, value] : run.options) entry.options[option] = value;
    entry.best = weights_of(run);
    entry.last = weights_of(last.runs[i]);
    read_origin(run.folder, given, entry);
    result.entries.push_back(std::move(entry));
  }
  read_times(folder, result.entries);
  return result;
}

std::string entry_text(const LedgerEntry& entry) {
  const auto tenths = [](double seconds) { return std::round(seconds * 10) / 10; };
  Json json = {{"format", kFormat},
               {"version", kVersion},
               {"run", entry.run},
               {"lengthwise", entry.program},
               {"commit", entry.commit},
               {"machine", entry.machine},
               {"recorded", entry.recorded},
               {"seconds", tenths(entry.seconds)},
               {"machine_seconds", tenths(entry.machine_seconds)},
               {"best", json_of(entry.best)},
               {"last", json_of(entry.last)},
               {"options", entry.options}};
  seal(json);
  // One key a line, so that the file is short and a change of it readable.
  std::string text = "{";
  for (const auto& [key, value] : json.items())
    text += fmt::format("{}\n{}: {}", text.size() == 1 ? "" : ",", json_text(key), json_text(value));
  return text + "\n}\n";
}

LedgerEntry parse_entry(const std::string& text, const std::string& where) {
  const Json value = parse_json(text, where);
  const JsonObject json(value, where);
  if (json.find_text("format") != kFormat) fail("{} is not a file of a ledger", where);
  if (json.whole("version", 1) > kVersion) fail("{} was written by a newer program", where);
  check_seal(value, where);
  LedgerEntry entry;
  entry.run = json.text("run");
  entry.program = json.text("lengthwise");
  entry.commit = json.text("commit");
  entry.machine = json.text("machine");
  entry.recorded = json.flag("recorded");
  entry.seconds = json.number("seconds", 0);
  entry.machine_seconds = json.number("machine_seconds", 0);
  entry.best = parse_weights(json.object("best"));
  entry.last = parse_weights(json.object("last"));
  const JsonObject options = json.object("options");
  for (const auto& [option, given] : options.members()) entry.options[option] = options.find_text(option).value_or("");
  return entry;
}

std::vector<LedgerEntry> read_ledger(const fs::path& ledger) {
  if (!is_folder(ledger)) fail("there is no folder {}", shown(ledger));
  std::vector<LedgerEntry> entries;
  for (const fs::path& file : list_folder(ledger)) {
    if (file.extension() != ".json") continue;
    entries.push_back(parse_entry(read_file(file), shown(file)));
    if (entries.back().file_name() != file.filename().string())
      fail("{} holds the run '{}'; its file was renamed", shown(file), entries.back().run);
  }
  if (entries.empty()) fail("{} holds no runs; `lengthwise ledger add` puts them there", shown(ledger));
  return entries;
}

void check_entry(const fs::path& ledger, const LedgerEntry& entry, bool replace) {
  const fs::path path = ledger / entry.file_name();
  if (!is_there(path) || replace) return;
  const std::string there = read_file(path);
  if (there == entry_text(entry)) return;
  const LedgerEntry other = parse_entry(there, shown(path));
  for (const auto& [option, value] : entry.options) {
    if (!other.options.contains(option) || other.option(option) == value || option == "threads") continue;
    fail("{} holds another run of that name: --{} is '{}' there and '{}' here", shown(path), option,
         other.option(option), value);
  }
  fail("{} holds that run with other results or times (commit {}); --replace overwrites it", shown(path), other.commit);
}

bool write_entry(const fs::path& ledger, const LedgerEntry& entry) {
  make_folder(ledger);
  const fs::path path = ledger / entry.file_name();
  const std::string text = entry_text(entry);
  if (is_there(path) && read_file(path) == text) return false;
  write_file(path, text);
  return true;
}

}  // namespace lengthwise
