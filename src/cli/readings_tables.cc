#include "cli/readings_tables.h"

#include <fmt/format.h>

#include <cmath>
#include <set>

#include "core/printable.h"
#include "core/table.h"
#include "eval/accuracy.h"
#include "report/perplexity_lines.h"

namespace lengthwise {
namespace {

const char* const kBest = "best";

double nats_per_token(const ContextRow& row) {
  return row.nats / static_cast<double>(row.tokens);
}

std::string table_of(const PerplexityLines& lines, int64_t trained) {
  std::set<int64_t> windows;
  for (const auto& [place, line] : lines) {
    if (line.with.empty()) continue;
    for (const auto& [window, seeds] : line.seeds) windows.insert(window);
  }
  if (windows.empty()) return "";
  std::vector<std::string> header{"encoding", "read with"};
  for (const int64_t window : windows) header.push_back(context_heading(window, trained));
  Table table(header);
  for (const auto& [place, line] : lines) {
    if (line.with.empty()) continue;
    std::vector<std::string> cells{line.encoding, line.with};
    for (const int64_t window : windows) {
      ContextPlace measured;
      if (const auto seeds = line.seeds.find(window); seeds != line.seeds.end()) {
        for (const ContextRow& row : seeds->second) measured.add(nats_per_token(row));
      }
      cells.push_back(measured.cell());
    }
    table.add(cells);
  }
  return table.to_string();
}

std::string of_text(const StoredRun& run) {
  Table table({"read with", "context", "tokens", "nats per token", "perplexity"});
  bool any = false;
  for (const ContextRow& row : read_perplexity(run.folder, kBest, run.steps)) {
    if (row.encoding == run.option("encoding") || row.slides()) continue;
    table.add({row.encoding, std::to_string(row.window), std::to_string(row.tokens),
               fmt::format("{:.4f}", nats_per_token(row)), fmt::format("{:.3f}", std::exp(nats_per_token(row)))});
    any = true;
  }
  return any ? table.to_string() : "";
}

std::string of_task(const StoredRun& run) {
  if (run.readings.empty()) return "";
  Table table({"read with", "length", "examples", "accuracy", "interval"});
  for (const Reading& reading : run.readings) {
    const auto add = [&](const std::string& length, int64_t correct, int64_t count) {
      const Interval interval = wilson_interval(correct, count);
      table.add({reading.encoding, length, std::to_string(count),
                 fmt::format("{:.4f}", static_cast<double>(correct) / static_cast<double>(count)),
                 fmt::format("{:.3f}-{:.3f}", interval.low, interval.high)});
    };
    int64_t longer = 0, right = 0;
    for (const LengthResult& row : reading.lengths) {
      add(std::to_string(row.counts.length), row.counts.correct, row.counts.count);
      if (row.counts.validation || !run.train_limit || row.counts.length <= *run.train_limit) continue;
      longer += row.counts.count;
      right += row.counts.correct;
    }
    if (longer > 0) add("longer", right, longer);
  }
  return table.to_string();
}

}  // namespace

std::string text_readings(const Results& results, const std::vector<PerplexityRanking>& rankings,
                          const std::string& weights) {
  std::string text;
  for (const PerplexityRanking& ranking : rankings) {
    for (const auto& [protocol, lines] : perplexity_lines(results, ranking, weights).protocols) {
      if (protocol.stride != 0) continue;
      const std::string table = table_of(lines, ranking.trained);
      if (!table.empty())
        text += fmt::format("{}: {}, read with other encodings than in training\n{}\n", printable(ranking.split),
                            printable(protocol.corpus), table);
    }
  }
  return text;
}

std::string run_readings(const std::filesystem::path& run) {
  const Results results = load_results(run);
  if (results.runs.empty()) return "";
  const StoredRun& own = results.runs.front();
  return own.category == "text" ? of_text(own) : of_task(own);
}

}  // namespace lengthwise
