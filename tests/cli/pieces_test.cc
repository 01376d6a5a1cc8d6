/// A study in pieces and a ledger of its results, as a user does it.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/cli/program.h"
#include "tests/core/temporary_folder.h"
#include "tests/ledger/made_origin.h"
#include "tests/study/small_study.h"

namespace lengthwise {
namespace {

namespace fs = std::filesystem;

TEST(PiecesProgram, FromTwoPiecesToALedger) {
  const TemporaryFolder folder;
  const auto at = [&](const char* name) { return (folder / name).string(); };
  write_file(folder / "study.toml", "name = 'small'\nencoding = ['nope', 't5']\nseed = [1, 2]\n" + kSmallRun);
  const auto piece = [&](const std::string& only, const char* out) {
    return run_program({"study", at("study.toml"), "--only", only, "--keep", "results", "--out", at(out), "--jobs", "2",
                        "--threads", "2"});
  };
  const Outcome first = piece("nope-*", "first");
  EXPECT_EQ(first.status, 0) << first.err;
  EXPECT_TRUE(contains(first.err, "--only selects 2 of 4 runs: nope-1, nope-2\n")) << first.err;
  EXPECT_FALSE(contains(first.err, "t5")) << first.err;
  EXPECT_EQ(piece("t5-*", "second").status, 0);

  const Outcome merged = run_program({"merge", at("first"), at("second"), "--out", at("all")});
  EXPECT_EQ(merged.status, 0) << merged.err;
  EXPECT_TRUE(contains(merged.out, ": 4 of 4 runs finished\n")) << merged.out;
  EXPECT_TRUE(contains(run_program({"compare", at("all")}).out, "4 of 4 runs finished"));
  EXPECT_TRUE(contains(mistake({"eval", at("all/runs/t5-1")}), "its weights were dropped"));
  EXPECT_TRUE(contains(mistake({"generate", at("all/runs/t5-1"), "x"}), "its weights were dropped"));

  const std::vector<std::string> add = {"ledger", "add", at("all"), "--to", at("ledger")};
  Outcome added = run_program(add);
  if (contains(added.err, "does not know its commit")) GTEST_SKIP() << "built outside of git";
  EXPECT_EQ(added.out, at("ledger") + ": 4 added\n") << added.err;
  EXPECT_EQ(run_program(add).out, at("ledger") + ": 0 added, 4 there already\n");
  const auto entry = nlohmann::json::parse(read_file(folder / "ledger/t5-2.json"));
  EXPECT_EQ(entry["options"]["encoding"], "t5");
  EXPECT_EQ(entry["best"]["out_of_distribution"]["by_length"].size(), 2u);
  EXPECT_GT(entry["seconds"].get<double>(), 0);
  EXPECT_GT(entry["machine_seconds"].get<double>(), 0);
  EXPECT_LE(entry["machine_seconds"].get<double>(), entry["seconds"].get<double>() + 0.1);
  EXPECT_NE(entry["machine"], "");
  EXPECT_TRUE(contains(run_program({"ledger", "table", at("ledger")}).out, "\n2 of 85 cells, 4 of 255 runs."));
}

TEST(PiecesProgram, TheTableGoesIntoADocument) {
  const TemporaryFolder folder;
  const auto at = [&](const char* name) { return (folder / name).string(); };
  make_finished_run(folder / "runs/sort-nope-1", {});
  ASSERT_EQ(run_program({"ledger", "add", at("runs"), "--to", at("ledger")}).status, 0);
  fs::copy(fs::path(LENGTHWISE_SOURCE_DIR) / "docs/reproduction.md", folder / "document.md");
  const std::string before = read_file(folder / "document.md");
  const Outcome outcome = run_program({"ledger", "table", at("ledger"), "--into", at("document.md")});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  const std::string after = read_file(folder / "document.md");
  EXPECT_TRUE(contains(after, "| sort | **.350** (1)<br>.995 ± .001 (-645.0) |")) << after;
  const std::string begin = "results/paper begins";
  const std::string end = "results/paper ends";
  EXPECT_EQ(after.substr(0, after.find(begin)), before.substr(0, before.find(begin)));
  EXPECT_EQ(after.substr(after.find(end)), before.substr(before.find(end)));
}

TEST(PiecesProgram, MistakesAreOneLine) {
  const TemporaryFolder folder;
  const std::string here = folder.path().string();
  EXPECT_EQ(mistake({"merge", here}), "lengthwise: --out DIR is needed: the folder to lay the pieces together in\n");
  EXPECT_EQ(mistake({"merge", here, "--out", here + "/out"}),
            "lengthwise: " + here + " is not the folder of a study: it has no study.toml\n");
  EXPECT_EQ(mistake({"merge"}), "lengthwise: DIR is missing; see `lengthwise merge --help`\n");
  EXPECT_EQ(mistake({"ledger", "add", here}), "lengthwise: --to DIR is needed: the folder of the ledger\n");
  EXPECT_TRUE(contains(mistake({"ledger", "add", here, "--to", here}), "holds no runs"));
  EXPECT_EQ(mistake({"ledger", "table", here}),
            "lengthwise: " + here + " holds no runs; `lengthwise ledger add` puts them there\n");
  EXPECT_EQ(mistake({"ledger", "tabel", here}), "lengthwise: there is no sub-command 'tabel'; did you mean 'table'?\n");
}

}  // namespace
}  // namespace lengthwise
