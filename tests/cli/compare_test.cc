/// `lengthwise compare` and `lengthwise report` as a user runs them.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "core/files.h"
#include "tests/cli/program.h"
#include "tests/core/temporary_folder.h"
#include "tests/results/made_run.h"

namespace lengthwise {
namespace {

constexpr const char* kTable =
    "split,category,encoding,seed,accuracy\r\n"
    "rsc,primitive,NoPE,1,1\r\nrsc,primitive,Rotary,1,0\r\nrsc,primitive,Absolute Position Embedding,1,0\r\n"
    "mc,primitive,NoPE,1,.5\r\nmc,primitive,Rotary,1,.4\r\nmc,primitive,Absolute Position Embedding,1,.6\r\n";

/// The cells of the first row of a table that begins with this name.
std::vector<std::string> row_of(const std::string& text, const std::string& name) {
  for (const std::string& line : lines_of(text)) {
    if (!line.starts_with(name + "  ")) continue;
    std::vector<std::string> cells;
    std::istringstream rest(line.substr(name.size()));
    for (std::string cell; rest >> cell;) cells.push_back(cell);
    return cells;
  }
  return {};
}

TEST(Compare, RanksAnybodysResults) {
  const TemporaryFolder folder;
  write_file(folder / "r.csv", kTable);
  const Outcome averaged = run_program({"compare", (folder / "r.csv").string()});
  EXPECT_EQ(averaged.status, 0) << averaged.err;
  // NoPE 1, 2; Rotary 2.5, 3; APE 2.5, 1.
  EXPECT_EQ(row_of(averaged.out, "NoPE").at(0), "0.7500") << averaged.out;
  EXPECT_EQ(row_of(averaged.out, "Rotary").at(0), "0.3667");
  EXPECT_EQ(row_of(averaged.out, "Absolute Position Embedding").at(0), "0.7000");
  const Outcome paper = run_program({"compare", (folder / "r.csv").string(), "--ties", "paper"});
  EXPECT_EQ(row_of(paper.out, "Rotary").at(0), "0.4167");
  EXPECT_EQ(row_of(paper.out, "Absolute Position Embedding").at(0), "0.6667");
  EXPECT_TRUE(contains(paper.out, "ties by the published row order")) << paper.out;
  // Rotary 2.5, then 2 as all three.
  const Outcome close = run_program({"compare", (folder / "r.csv").string(), "--ties", "0.95"});
  EXPECT_EQ(row_of(close.out, "Rotary").at(0), "0.4500");
  EXPECT_TRUE(contains(close.out, "accuracies at most 0.95 below the best of them being ties")) << close.out;
}

TEST(Compare, NamesTheBadCellOfATable) {
  const TemporaryFolder folder;
  write_file(folder / "r.csv", std::string(kTable) + "mc,primitive,NoPE,2,half\n");
  const Outcome outcome = run_program({"compare", (folder / "r.csv").string()});
  EXPECT_EQ(outcome.status, 2);
  EXPECT_EQ(outcome.out, "");
  EXPECT_EQ(outcome.err, "lengthwise: " + (folder / "r.csv").string() + ":8: the accuracy 'half' is not a number\n");
}

TEST(Compare, PrintsTheTablesOfAFolder) {
  const TemporaryFolder folder;
  make_run(folder / "n", {.encoding = "nope", .longer_correct = 8});
  make_run(folder / "t", {.encoding = "t5", .trained_correct = 2});
  make_run(folder / "a", {.encoding = "alibi", .finished = false});
  const Outcome outcome = run_program({"compare", folder.path().string(), "--by-length"});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_TRUE(contains(outcome.out, "2 of 3 runs finished\n  unfinished a, step 50 of 100\n")) << outcome.out;
  EXPECT_TRUE(contains(outcome.out, "sort (trained on lengths up to 2)"));
  EXPECT_TRUE(contains(outcome.out, "warning: T5 did not fit the training lengths of sort"));
  EXPECT_TRUE(contains(outcome.out, "note: With one seed"));
}

/// Fifteen encodings on two tasks, with one name that is longer than a table is wide.
void make_many(const TemporaryFolder& folder) {
  for (const char* task : {"sort", "copy"}) {
    for (int i = 0; i < 14; ++i) {
      make_run(folder / fmt::format("{}{}", task, i), {.task = task,
                                                       .encoding = fmt::format("e{}", i),
                                                       .label = fmt::format("E {}", i),
                                                       .family = "mine",
                                                       .trained_correct = i == 13 ? 3 : 10,
                                                       .longer_correct = i % 10});
    }
    make_run(folder / fmt::format("{}-long", task), {.task = task,
                                                     .encoding = "layers(" + std::string(80, 'x') + ")",
                                                     .label = "Long",
                                                     .family = "modifier",
                                                     .longer_correct = 10});
  }
}

TEST(Compare, KeepsTablesOfManyEncodingsReadable) {
  const TemporaryFolder folder;
  make_many(folder);
  const std::string out = run_program({"compare", folder.path().string()}).out;
  EXPECT_TRUE(contains(out, "Long is layers(xxx")) << out;
  EXPECT_TRUE(contains(out, "longer lengths  copy    sort\n")) << out;
  EXPECT_EQ(row_of(out, "Long").size(), 7u) << "the ranking is first";
  EXPECT_TRUE(contains(out, "\ne13             0.200!  0.200!\n")) << out;
  EXPECT_TRUE(contains(out, "--all prints all 105 pairs.")) << out;
  for (const std::string& line : lines_of(out)) {
    const bool table = line.starts_with("e") || line.starts_with("Long  ");
    if (table) {
      EXPECT_LE(line.size(), 120u) << line;
    }
  }
  EXPECT_FALSE(contains(out, "under half at"));
  const std::string all = run_program({"compare", folder.path().string(), "--all"}).out;
  EXPECT_TRUE(contains(all, "under half at"));
  EXPECT_FALSE(contains(all, "--all prints"));
  EXPECT_GT(lines_of(all).size(), lines_of(out).size() + 80) << "every pair";
  const std::string lengths = run_program({"compare", folder.path().string(), "--by-length"}).out;
  EXPECT_TRUE(contains(lengths, "copy (trained on lengths up to 2)\nlength     1     2    3+    4+\n")) << lengths;
  EXPECT_TRUE(contains(lengths, "\nLong    1.00  1.00  1.00  0.50\n")) << lengths;
}

TEST(Compare, RanksByCategory) {
  const TemporaryFolder folder;
  make_many(folder);
  const std::string out = run_program({"compare", folder.path().string(), "--by-category"}).out;
  EXPECT_TRUE(contains(out, "\nprimitive\n    encoding     MRR     interval  longer     interval\n")) << out;
  EXPECT_TRUE(contains(out, "\n 1  Long      1.0000")) << out;
  EXPECT_TRUE(contains(out, "and 3 more; --all prints them.")) << out;
}

TEST(Compare, WritesMarkdown) {
  const TemporaryFolder folder;
  make_many(folder);
  const Outcome printed = run_program({"compare", folder.path().string(), "--markdown"});
  EXPECT_EQ(printed.status, 0) << printed.err;
  EXPECT_TRUE(contains(printed.out, "### Ranking\n\n|  | encoding | family | MRR |")) << printed.out;
  const TemporaryFolder documents;
  const std::string page = (documents / "page.md").string();
  write_file(page, "# Mine\n");
  const Outcome refused = run_program({"compare", folder.path().string(), "--into", page});
  EXPECT_EQ(refused.status, 2);
  EXPECT_TRUE(contains(refused.err, "page.md has no place for the table")) << refused.err;
  EXPECT_EQ(read_file(page), "# Mine\n");
  write_file(page,
             "# Mine\n<!-- the tables of a comparison begin: written by `lengthwise compare --into` -->\nstale\n"
             "<!-- the tables of a comparison end -->\nrest\n");
  EXPECT_EQ(run_program({"compare", folder.path().string(), "--into", page}).out, "");
  EXPECT_TRUE(contains(read_file(page), printed.out));
  EXPECT_TRUE(read_file(page).ends_with("<!-- the tables of a comparison end -->\nrest\n"));
  EXPECT_FALSE(contains(read_file(page), "stale"));
}

TEST(Compare, WorksWithASingleRun) {
  const TemporaryFolder folder;
  make_run(folder / "n", {});
  const Outcome outcome = run_program({"compare", (folder / "n").string()});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_TRUE(contains(outcome.out, "NoPE solves 35.0 %")) << outcome.out;
  EXPECT_TRUE(contains(outcome.out, "note: A ranking needs at least two encodings."));
}

TEST(Compare, WritesTidyTables) {
  const TemporaryFolder folder;
  make_run(folder / "runs" / "n", {});
  const std::string runs = (folder / "runs").string();
  const Outcome printed = run_program({"compare", runs, "--csv"});
  EXPECT_EQ(printed.status, 0) << printed.err;
  EXPECT_EQ(lines_of(printed.out).size(), 5u) << printed.out;
  EXPECT_EQ(run_program({"compare", "--csv", runs}).out, printed.out);
  const std::string csv = (folder / "r.csv").string();
  const std::string json = (folder / "r.json").string();
  const Outcome written = run_program({"compare", runs, "--csv", csv, "--json", json});
  EXPECT_EQ(written.status, 0) << written.err;
  EXPECT_TRUE(contains(written.out, "NoPE solves")) << "the tables are printed as well";
  EXPECT_EQ(read_file(csv), printed.out);
  EXPECT_EQ(nlohmann::json::parse(read_file(json)).size(), 4u);
  EXPECT_EQ(run_program({"compare", runs, "--json"}).out, read_file(json));
  EXPECT_TRUE(contains(run_program({"compare", csv}).out, "NoPE solves 35.0 %")) << "what it writes it reads";
}

TEST(Compare, ReadsItsOwnTableAndSaysTheSame) {
  const TemporaryFolder folder;
  int number = 9;
  for (const char* encoding : {"t5", "nope"}) {
    for (const char* scratchpad : {"none", "full"}) {
      for (int64_t seed = 1; seed <= 2; ++seed) {
        make_run(folder / "runs" / std::to_string(number--), {.encoding = encoding,
                                                              .seed = seed,
                                                              .options = {{"scratchpad", scratchpad}},
                                                              .trained_correct = encoding[0] == 't' ? 3 : 10,
                                                              .longer_correct = seed * (encoding[0] == 't' ? 2 : 4),
                                                              .first_test = 2});
      }
    }
  }
  const std::string runs = (folder / "runs").string();
  const std::string csv = (folder / "own.csv").string();
  const std::string whole = run_program({"compare", runs, "--by-length", "--csv", csv}).out;
  const std::string states = "runs: 8 of 8 runs finished\n\n";
  ASSERT_TRUE(whole.starts_with(states)) << whole;
  EXPECT_EQ(whole.substr(states.size()), run_program({"compare", csv, "--by-length"}).out);
  EXPECT_TRUE(contains(whole, "reasoning, scratchpad"));
  EXPECT_TRUE(contains(whole, "test, not longer"));
  EXPECT_TRUE(contains(whole, "length  longer")) << whole;
}

TEST(Compare, TellsOfDamageAndEndsWithOne) {
  const TemporaryFolder folder;
  make_run(folder / "a", {});
  make_run(folder / "b", {.encoding = "t5"});
  write_file(folder / "b" / "eval.jsonl", "\x1b[2Jgarbage\n");
  for (const char* command : {"compare", "report"}) {
    const Outcome outcome = run_program({command, folder.path().string()});
    EXPECT_EQ(outcome.status, 1);
    EXPECT_EQ(outcome.err, "lengthwise: cannot read the run b: eval.jsonl:1: not valid JSON at byte 1\n");
  }
  EXPECT_TRUE(contains(run_program({"compare", folder.path().string()}).out,
                       "1 of 2 runs finished\n  damaged b, step 0 of 100: eval.jsonl:1: not valid JSON at byte 1\n"));
  EXPECT_EQ(run_program({"compare", folder.path().string(), "--csv"}).status, 1);
}

TEST(Compare, LeavesTheTerminalAlone) {
  const TemporaryFolder folder;
  write_file(folder / "r.csv", "split,encoding,seed,accuracy\n\x1b[31ms,\x1b]0;x\x07,1,.5\ns,b\x9b,1,.4\n");
  const std::string out = run_program({"compare", (folder / "r.csv").string()}).out;
  for (const char c : out) {
    EXPECT_TRUE(c == '\n' || static_cast<unsigned char>(c) >= ' ') << out;
    EXPECT_NE(c, '\x7f');
    EXPECT_NE(c, '\x9b');
  }
}

TEST(Compare, ChoosesTunedOptionsByValidation) {
  const TemporaryFolder folder;
  for (int64_t rate = 1; rate <= 2; ++rate) {
    for (const char* encoding : {"nope", "t5"}) {
      make_run(folder / fmt::format("{}{}", encoding, rate),
               {.encoding = encoding, .options = {{"lr", rate}}, .trained_correct = rate == 2 ? 10 : 9});
    }
  }
  const std::string path = folder.path().string();
  const Outcome outcome = run_program({"compare", path, "--tune", "lr"});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_TRUE(contains(outcome.out, "Chosen by validation:\n")) << outcome.out;
  EXPECT_TRUE(contains(outcome.out, "nope      sort   lr=2               2      1.0000            0.9000"))
      << outcome.out;
  EXPECT_TRUE(contains(run_program({"compare", path}).out, "sort lr=2"));
  EXPECT_EQ(mistake({"compare", path, "--tune", "rl"}),
            "lengthwise: --tune: no run has an option 'rl'; did you mean 'lr'?\n");
  write_file(folder / "r.csv", kTable);
  EXPECT_EQ(mistake({"compare", (folder / "r.csv").string(), "--tune", "lr"}),
            "lengthwise: --tune goes with a folder of runs; a CSV file has a column 'tuned'\n");
}

TEST(Compare, LeavesOutWhatDidNotFit) {
  const TemporaryFolder folder;
  make_run(folder / "n", {.encoding = "nope"});
  make_run(folder / "t", {.encoding = "t5", .trained_correct = 2});
  const std::string path = folder.path().string();
  EXPECT_TRUE(contains(run_program({"compare", path}).out,
                       "1 of 2 runs did not fit the training lengths (accuracy "
                       "below 0.9 on them) and is ranked like the others."));
  const std::string left = run_program({"compare", path, "--fit", "0.5"}).out;
  EXPECT_TRUE(contains(left,
                       "1 of 2 runs did not fit the training lengths (accuracy below 0.5 on them) and is left "
                       "out."))
      << left;
  EXPECT_TRUE(contains(left, "warning: Left out: T5 on sort, seed 1.")) << left;
}

TEST(Compare, ChoosesEncodings) {
  const TemporaryFolder folder;
  write_file(folder / "r.csv", kTable);
  const std::string path = (folder / "r.csv").string();
  const Outcome two = run_program({"compare", path, "--encodings", "NoPE, Rotary"});
  EXPECT_EQ(row_of(two.out, "NoPE").at(0), "1.0000") << two.out << two.err;
  const Outcome wrong = run_program({"compare", path, "--encodings", "NoPE,Rotay"});
  EXPECT_EQ(wrong.status, 2);
  EXPECT_EQ(wrong.err,
            "lengthwise: --encodings: there are no results of 'Rotay'; there are NoPE, Rotary, Absolute Position "
            "Embedding; did you mean 'Rotary'?\n");
}

TEST(Compare, SaysWhatIsMissing) {
  EXPECT_EQ(run_program({"compare"}).err, "lengthwise: PATH is missing; see `lengthwise compare --help`\n");
  EXPECT_EQ(run_program({"compare", "/nowhere"}).err, "lengthwise: there is neither a folder nor a file /nowhere\n");
  const Outcome ties = run_program({"compare", "x", "--ties", "papre"});
  EXPECT_EQ(
      ties.err,
      "lengthwise: --ties: 'papre' is no rule for ties; there are average, paper, and a number from 0 to below 1; did "
      "you mean 'paper'?\n");
}

TEST(ReportCommand, WritesThePage) {
  const TemporaryFolder folder;
  make_run(folder / "n", {});
  const Outcome outcome = run_program({"report", folder.path().string()});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(outcome.out, (folder / "report.html").string() + "\n");
  EXPECT_TRUE(contains(read_file(folder / "report.html"), "NoPE solves 35.0 %"));
  EXPECT_EQ(run_program({"report", (folder / "none").string()}).status, 2);
}

}  // namespace
}  // namespace lengthwise
