// The files of an analysis.
#include "analysis/output.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/checksum.h"
#include "core/files.h"
#include "results/csv.h"
#include "tests/core/temporary_folder.h"

namespace lengthwise {
namespace {

AnalysisOutput made_output(const std::filesystem::path& folder) {
  AnalysisOutput output;
  output.folder = folder;
  output.run = {"=one", "sort", "nope", 3, "best", 12, 4};
  output.columns = {"layer", "r2"};
  output.rows = {{"0", number_cell(0.25)}, {"1", number_cell(-std::log(0.0))}};
  output.summary["best"] = 0.25;
  output.notes = {"length 9 was left out"};
  return output;
}

TEST(AnalysisFiles, AreATableAndASummaryThatVouchesForIt) {
  const TemporaryFolder folder;
  write_analysis("probe", {{"seed", 1}}, made_output(folder.path()));
  const std::string csv = read_file(folder / "analysis/probe.csv");
  EXPECT_EQ(csv, "run,task,encoding,seed,layer,r2\n'=one,sort,nope,3,0,0.25\n'=one,sort,nope,3,1,\n");
  const Json json = parse_json(read_file(folder / "analysis/probe.json"), "probe.json");
  check_seal(json, "probe.json");
  EXPECT_EQ(json["format"], "lengthwise-analysis");
  EXPECT_EQ(json["version"], 1);
  EXPECT_EQ(json["analysis"], "probe");
  EXPECT_EQ(json["csv"], checksum_of(csv));
  EXPECT_EQ(json["summary"]["best"], 0.25);
  EXPECT_EQ(json["notes"][0], "length 9 was left out");
  EXPECT_TRUE(json.contains("checksum"));
  EXPECT_EQ(list_folder(folder / "analysis").size(), 2U);
  write_analysis("probe", {{"seed", 2}}, made_output(folder.path()));
  EXPECT_EQ(list_folder(folder / "analysis").size(), 2U);
}

}  // namespace
}  // namespace lengthwise
