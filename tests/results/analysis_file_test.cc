// What analyses left in a run, read back.
#include "results/analysis_file.h"

#include <gtest/gtest.h>

#include "core/checksum.h"
#include "core/files.h"
#include "tests/core/mistake.h"
#include "tests/core/temporary_folder.h"

namespace lengthwise {
namespace {

constexpr const char* kTable = "run,layer,r2\n'=a,0,0.5\n\"b,c\",1,\n";

Json made_summary() {
  Json json = {{"format", "lengthwise-analysis"},
               {"version", 1},
               {"analysis", "probe"},
               {"weights", "best"},
               {"trained_length", 8},
               {"summary", {{"best", 0.5}}},
               {"csv", checksum_of(kTable)}};
  seal(json);
  return json;
}

void write_probe(const TemporaryFolder& run, const Json& summary, const std::string& table = kTable) {
  make_folder(run / "analysis");
  write_file(run / "analysis/probe.csv", table);
  write_file(run / "analysis/probe.json", json_text(summary, 1));
}

TEST(AnalysisFile, IsReadBack) {
  const TemporaryFolder run;
  write_probe(run, made_summary());
  std::vector<std::string> notes;
  const std::vector<StoredAnalysis> found = read_analyses(run.path(), notes);
  EXPECT_TRUE(notes.empty());
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].name, "probe");
  EXPECT_EQ(found[0].weights, "best");
  EXPECT_EQ(found[0].trained_length, 8);
  EXPECT_EQ(found[0].summary["best"], 0.5);
  EXPECT_EQ(found[0].column("r2"), 2U);
  EXPECT_EQ(found[0].rows, (std::vector<std::vector<std::string>>{{"=a", "0", "0.5"}, {"b,c", "1", ""}}));
  EXPECT_EQ(mistake_of([&] { found[0].column("r3"); }), "probe.csv has no column 'r3'");
}

TEST(AnalysisFile, IsLeftOutWithANoteWhereItIsNotWhatWasWritten) {
  const auto note = [](const Json& summary, const std::string& table = kTable) {
    const TemporaryFolder run;
    write_probe(run, summary, table);
    std::vector<std::string> notes;
    EXPECT_TRUE(read_analyses(run.path(), notes).empty());
    return notes.size() == 1 ? notes[0] : "not one note";
  };
  EXPECT_NE(note(made_summary(), "run,layer,r2\na,0,0.6\n").find("probe.csv is damaged"), std::string::npos);
  Json changed = made_summary();
  changed["trained_length"] = 9;
  EXPECT_NE(note(changed).find("probe.json is damaged"), std::string::npos);
  Json later = made_summary();
  later.erase("checksum");
  later["version"] = 2;
  EXPECT_NE(note(later).find("was written by a later version"), std::string::npos);
  EXPECT_NE(note({{"format", "else"}}).find("is not the summary of an analysis"), std::string::npos);
}

TEST(AnalysisFile, CountsHeadsFromOneWhateverVersionWroteThem) {
  const TemporaryFolder run;
  const std::string table = "run,layer,head,other_head\na,1,0,3\n";
  make_folder(run / "analysis");
  write_file(run / "analysis/similarity.csv", table);
  for (const int64_t version : {1, 2}) {
    Json summary = made_summary();
    summary.erase("checksum");
    summary["csv"] = checksum_of(table);
    summary["version"] = version;
    write_file(run / "analysis/similarity.json", json_text(summary, 1));
    const std::vector<std::string> row = read_analysis(run.path(), "similarity").rows.at(0);
    EXPECT_EQ(row[1], "1");
    EXPECT_EQ(row[2], version == 1 ? "1" : "0");
    EXPECT_EQ(row[3], version == 1 ? "4" : "3");
  }
}

TEST(AnalysisFile, NeedNotBeThere) {
  const TemporaryFolder run;
  std::vector<std::string> notes;
  EXPECT_TRUE(read_analyses(run.path(), notes).empty());
  // A table without its summary is one that was never finished.
  make_folder(run / "analysis");
  write_file(run / "analysis/probe.csv", kTable);
  EXPECT_TRUE(read_analyses(run.path(), notes).empty());
  EXPECT_TRUE(notes.empty());
}

}  // namespace
}  // namespace lengthwise
