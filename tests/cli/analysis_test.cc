/// `lengthwise probe` and its like, as a user calls them.
#include "analysis/analysis.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "core/files.h"
#include "results/csv.h"
#include "tests/cli/program.h"
#include "tests/core/temporary_folder.h"

namespace lengthwise {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;
using Table = std::vector<std::map<std::string, std::string>>;

Table table_of(const fs::path& path) {
  const std::string text = read_file(path);
  CsvReader reader(text, path.string());
  Table table;
  for (CsvRow row; reader.next(row);) {
    auto& cells = table.emplace_back();
    for (size_t i = 0; i < row.fields.size(); ++i) cells[reader.header().fields[i]] = row.fields[i];
  }
  return table;
}

class AnalysisCommands : public testing::Test {
 protected:
  fs::path trained(const std::string& name, const Words& more = {}) const {
    Words words{"train",
                "--task",
                "sort",
                "--train-lengths",
                "1:4",
                "--train-count",
                "200",
                "--layers",
                "2",
                "--width",
                "32",
                "--heads",
                "2",
                "--device",
                "cpu",
                "--threads",
                "1",
                "--precision",
                "fp32",
                "--out",
                (folder_ / name).string(),
                "--test-lengths",
                "5:6",
                "--test-count",
                "20",
                "--steps",
                "4",
                "--validate-every",
                "2",
                "--quiet"};
    words.insert(words.end(), more.begin(), more.end());
    const Outcome outcome = run_program(words);
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    return folder_ / name;
  }

  static Outcome probe(const fs::path& run, const Words& more = {}) {
    Words words{"probe",   run.string(), "--sequences", "6",         "--tokens", "6",
                "--steps", "5",          "--quiet",     "--threads", "1"};
    words.insert(words.end(), more.begin(), more.end());
    return run_program(words);
  }

  const TemporaryFolder folder_;
};

TEST_F(AnalysisCommands, AreThoseOfTheList) {
  const Outcome help = run_program({"--help"});
  for (const AnalysisEntry& entry : analyses()) {
    EXPECT_TRUE(contains(help.out, entry.summary)) << entry.name;
    EXPECT_TRUE(contains(run_program({entry.name, "--help"}).out, "--content")) << entry.name;
    EXPECT_TRUE(contains(mistake({entry.name}), "RUN is missing")) << entry.name;
    EXPECT_TRUE(contains(mistake({entry.name, (folder_ / "none").string(), (folder_ / "none").string()}), "none"))
        << entry.name;
  }
}

TEST_F(AnalysisCommands, ProbeLeavesATableThatHoldsEveryControl) {
  const fs::path run = trained("a");
  const Outcome outcome = probe(run);
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_TRUE(contains(outcome.out, "a, nope: position, exchanged content, trained up to length 4")) << outcome.out;
  const Table table = table_of(run / "analysis/probe.csv");
  std::map<std::string, int> states, lengths, layers;
  for (const auto& row : table) {
    EXPECT_EQ(row.at("run"), "a");
    EXPECT_EQ(row.at("where"), row.at("length") == "4" ? "inside" : "beyond");
    ++states[row.at("content") + " " + row.at("states") + " " + row.at("labels")];
    ++lengths[row.at("length")];
    ++layers[row.at("layer")];
  }
  // 2 targets, 2 probes, 2 fits, 3 layers, 3 lengths.
  for (const char* content : {"task", "exchanged"}) {
    for (const char* kind : {"trained true", "trained shuffled", "untrained true", "constructed true"})
      EXPECT_EQ(states[std::string(content) + " " + kind], 72) << content << ' ' << kind;
    EXPECT_EQ(states[std::string(content) + " token true"], 24);
  }
  EXPECT_EQ(lengths.size(), 3U);
  EXPECT_EQ(layers.size(), 3U);
  const auto json = nlohmann::json::parse(read_file(run / "analysis/probe.json"));
  EXPECT_EQ(json["trained_length"], 4);
  EXPECT_EQ(json["options"]["tokens"], 6);
  EXPECT_EQ(json["summary"]["best"].size(), 8U);
  // The same command gives the same table; the run itself is still what it was.
  const std::string before = read_file(run / "analysis/probe.csv");
  EXPECT_EQ(probe(run).status, 0);
  EXPECT_EQ(read_file(run / "analysis/probe.csv"), before);
  EXPECT_EQ(run_program({"eval", run.string(), "--quiet", "--threads", "1"}).status, 0);
  EXPECT_EQ(run_program({"compare", folder_.path().string()}).status, 0);
}

TEST_F(AnalysisCommands, PrintJsonAndLeaveNothingWhereToldSo) {
  const fs::path run = trained("a");
  const Outcome outcome = probe(run, {"--json", "--no-save", "--lengths", "4", "--content", "exchanged"});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  const auto json = nlohmann::json::parse(outcome.out);
  EXPECT_EQ(json["analysis"], "probe");
  EXPECT_EQ(json["summary"]["best"].size(), 4U);
  EXPECT_FALSE(fs::exists(run / "analysis"));
}

TEST_F(AnalysisCommands, WorkForEncodingsWithAndWithoutAnEnd) {
  for (const char* encoding : {"learned", "t5", "transformer-xl"}) {
    const fs::path run = trained(encoding, {"--encoding", encoding, "--max-positions", "24"});
    const Outcome outcome = probe(run, {"--content", "exchanged"});
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_FALSE(table_of(run / "analysis/probe.csv").empty()) << encoding;
  }
}

TEST_F(AnalysisCommands, SimilarityNamesTheBaselineAndKeepsItsBounds) {
  const fs::path alibi = trained("alibi", {"--encoding", "alibi"});
  const fs::path nope = trained("nope");
  const fs::path again = trained("again", {"--seed", "2"});
  const Words compare{"similarity", alibi.string(), nope.string(), again.string(),  "--sequences", "2",
                      "--quiet",    "--threads",    "1",           "--as-published"};
  const Outcome outcome = run_program(compare);
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_FALSE(fs::exists(alibi / "analysis"));
  for (const fs::path& reference : {nope, again}) {
    std::map<std::string, int> relations;
    for (const auto& row : table_of(reference / "analysis/similarity.csv")) {
      ++relations[row.at("other_encoding") + " " + row.at("relation") + " " + row.at("computation")];
      const double value = std::stod(row.at("divergence"));
      EXPECT_GE(value, 0);
      if (row.at("computation") == "jensen-shannon") {
        EXPECT_LE(value, std::log(2.0));
      }
      EXPECT_LE(std::stod(row.at("low")), value);
      EXPECT_GE(std::stod(row.at("high")), value);
      // Heads are counted from 1; as published, the other one has the lower number.
      EXPECT_GE(std::stoi(row.at("other_head")), 1);
      EXPECT_GE(std::stoi(row.at("head")), row.at("computation") == "as-published" ? 2 : 1);
    }
    // 2 contents, 3 lengths, 2 layers.
    EXPECT_EQ(relations, (std::map<std::string, int>{{"alibi encoding jensen-shannon", 12},
                                                     {"alibi encoding as-published", 12},
                                                     {"nope baseline jensen-shannon", 12},
                                                     {"nope baseline as-published", 12}}));
  }
  const Outcome itself = run_program({"similarity", alibi.string(), alibi.string(), "--quiet", "--sequences", "2"});
  EXPECT_EQ(itself.status, 0) << itself.err;
  for (const auto& row : table_of(alibi / "analysis/similarity.csv")) {
    EXPECT_EQ(row.at("relation"), "itself");
    EXPECT_EQ(row.at("divergence"), "0");
  }
}

TEST_F(AnalysisCommands, SayWhatIsWrong) {
  const fs::path sort = trained("sort");
  const fs::path copy = trained("copy", {"--task", "copy"});
  const fs::path deep = trained("deep", {"--layers", "3"});
  EXPECT_EQ(mistake({"similarity", sort.string(), "--quiet"}),
            "lengthwise: similarity needs at least 2 runs; see `lengthwise similarity --help`\n");
  EXPECT_TRUE(contains(mistake({"similarity", sort.string(), copy.string(), "--quiet"}),
                       "only runs of the same task can be compared"));
  EXPECT_TRUE(contains(mistake({"similarity", sort.string(), deep.string(), "--quiet"}), "has 2 layers"));
  EXPECT_TRUE(contains(mistake({"probe", sort.string(), "--sequences", "3"}), "--sequences must be at least 6"));
  EXPECT_TRUE(contains(mistake({"probe", sort.string(), "--lengths", "4:8"}), "as 20,40,80, not '4:8'"));
  EXPECT_TRUE(contains(mistake({"probe", sort.string(), "--weights", "worst"}), "best or last"));
  EXPECT_TRUE(contains(mistake({"probe", sort.string(), "--token", "3"}), "did you mean '--tokens'?"));
}

}  // namespace
}  // namespace lengthwise
