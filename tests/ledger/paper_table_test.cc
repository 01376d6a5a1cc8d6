/// The study's table from made-up entries, against numbers worked out by hand.
#include "ledger/paper_table.h"

#include <gtest/gtest.h>

#include "core/error.h"
#include "ledger/paper_runs.h"
#include "ledger/published.h"
#include "tasks/registry.h"

namespace lengthwise {
namespace {

LedgerEntry entry(const std::string& task, const std::string& encoding, const std::string& seed, int64_t correct) {
  LedgerEntry made;
  made.run = task + "-" + encoding + "-" + seed;
  made.commit = "abc1234";
  made.machine = "NVIDIA H200";
  made.seconds = 1000;
  made.machine_seconds = 180;
  made.options = {{"task", task}, {"encoding", encoding}, {"seed", seed}, {"precision", "bf16"}, {"lr", "3e-05"}};
  made.best = {20000, {{{10, 1000, 1000}}}, {{{21, 1000, correct}}}};
  made.last = made.best;
  return made;
}

std::string complaint(const std::vector<LedgerEntry>& entries) {
  try {
    paper_table(entries);
  } catch (const UserError& error) {
    return error.what();
  }
  return "none";
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(PaperTable, PutsOursBesideThePublished) {
  const std::string table = paper_table({entry("copy-rsc", "nope", "1", 980), entry("copy-rsc", "nope", "2", 950),
                                         entry("copy-rsc", "t5", "1", 771), entry("copy-rsc", "rope", "1", 1),
                                         entry("parity", "alibi", "1", 500)});
  // (.965 - .986) / .006 = -3.5, a sample's deviation of .980 and .950 is .0212; .001 is two halves of the last digit.
  EXPECT_TRUE(has(table,
                  "| copy-rsc | **.965** ± .021 (2)<br>.986 ± .006 (-3.5) | **.771** (1)<br>.771 ± .053 (+0.0) | "
                  "–<br>.289 ± .030 | **.001** (1)<br>.000 (+2.0) | –<br>.000 |\n"))
      << table;
  EXPECT_TRUE(has(table, "| parity | – | – | **.500** (1) | – | – |\n")) << table;
  EXPECT_TRUE(has(table,
                  "4 of 85 cells, 5 of 255 runs. Of the 3 cells here whose published value is known 2 lie within "
                  "two published deviations, 2 within three. Further away: copy-rsc NoPE (-3.5).\n"))
      << table;
  EXPECT_TRUE(has(table, "On the training lengths every cell has at least .990.\n")) << table;
  // 5 runs of 180 s are a quarter of an hour; 460 h / 255 * 5 = 9 h.
  EXPECT_TRUE(has(table,
                  "These 5 runs took 0.25 hours of NVIDIA H200 (3.0 minutes each), in bf16; the study's 255 took "
                  "about 460 hours of an A100, as many of them as are here about 9. Commits: `abc1234`.\n"))
      << table;
}

TEST(PaperTable, HasEverySplitOfTheStudy) {
  const std::string table = paper_table({entry("sort", "nope", "1", 995)});
  size_t splits = 0;
  for (const auto& task : tasks()) splits += has(table, "\n| " + task->info().name + " |") ? 1 : 0;
  EXPECT_EQ(splits, 17u);
}

TEST(PaperTable, RanksWhereAllFiveAreThere) {
  std::vector<LedgerEntry> entries;
  const auto add = [&](const std::string& task, const std::string& seed, const std::vector<int64_t>& correct) {
    for (size_t i = 0; i < correct.size(); ++i)
      entries.push_back(entry(task, published_encodings()[i], seed, correct[i]));
  };
  add("copy", "1", {900, 800, 700, 600, 500});  // 1, 1/2, 1/3, 1/4, 1/5
  add("sort", "1", {100, 100, 900, 0, 0});  // ties: T5 before NoPE, RoPE before the sinusoids: 1/3, 1/2, 1, 1/4, 1/5
  add("sort", "2", {900, 800});             // incomplete
  const std::string table = paper_table(entries);
  EXPECT_TRUE(has(table,
                  "| overall (2) | **.667** / .687 | **.500** / .549 | **.667** / .502 | **.250** / .330 | "
                  "**.200** / .215 |\n"))
      << table;
  EXPECT_TRUE(has(table, "| primitive (1) | **1.000** / .799 |")) << table;
  EXPECT_TRUE(has(table, "| reasoning (1) | **.333** / .612 |")) << table;
  EXPECT_TRUE(has(table, "| classic (0) | – / .500 |")) << table;
  EXPECT_TRUE(has(table, "of 51 in all")) << table;
}

TEST(PaperTable, SaysWhichDidNotFit) {
  LedgerEntry poor = entry("sort", "rope", "1", 0);
  poor.best.trained.lengths[0].correct = 900;
  EXPECT_TRUE(has(paper_table({poor}), "every cell has at least .990, but for sort RoPE .900.\n"));
}

TEST(PaperTable, LeavesOutWhatIsNotTheStudys) {
  LedgerEntry scratchpad = entry("addition", "nope", "1", 1);
  scratchpad.options["scratchpad"] = "full";
  const std::string table =
      paper_table({entry("sort", "nope", "1", 995), entry("sort", "learned", "1", 5), scratchpad});
  EXPECT_TRUE(has(table, "1 of 255 runs.")) << table;
  EXPECT_TRUE(has(table, "The ledger holds 2 more that are no part of the study's table.\n")) << table;
  EXPECT_EQ(complaint({scratchpad}), "the ledger has no run of the study's tasks and encodings");
}

TEST(PaperTable, RefusesRunsThatDoNotBelongTogether) {
  LedgerEntry other = entry("sort", "nope", "1", 995);
  other.run = "again";
  EXPECT_EQ(complaint({entry("sort", "nope", "1", 995), other}),
            "sort-nope-1.json and again.json are both nope on sort with seed 1; a table has each once");
  LedgerEntry fast = entry("sort", "nope", "2", 995);
  fast.options["lr"] = "0.001";
  EXPECT_EQ(complaint({entry("sort", "nope", "1", 995), fast}),
            "sort-nope-1.json and sort-nope-2.json are not of one recipe: --lr is '3e-05' and '0.001'");
  fast.options.erase("lr");
  EXPECT_EQ(complaint({entry("sort", "nope", "1", 995), fast}), "none") << "an option that is younger than a run";
}

TEST(Published, HasTheStudysTable) {
  size_t cells = 0;
  for (const auto& task : tasks()) {
    for (const std::string& encoding : published_encodings())
      cells += published_accuracy(task->info().name, encoding) ? 1 : 0;
  }
  EXPECT_EQ(cells, 40u) << "8 splits under names that tasks have";
  EXPECT_EQ(published_accuracy("sort-multi", "rope")->mean, .751);
  EXPECT_FALSE(published_accuracy("sort-multi", "learned"));
  EXPECT_FALSE(published_accuracy("parity", "rope"));
  EXPECT_NEAR(published_accuracy("sort", "rope")->distance(.092), -3.2, 0.01);
}

TEST(PaperTable, GoesBetweenTheMarkersOfADocument) {
  const std::string begin = "<!-- the table of results/paper begins: written by `lengthwise ledger table` -->";
  const std::string end = "<!-- the table of results/paper ends -->";
  const std::string document = "# Title\n" + begin + "\nold\n" + end + "\nprose\n";
  const std::string once = with_table(document, "new\n", "file");
  EXPECT_EQ(once, "# Title\n" + begin + "\n\nnew\n\n" + end + "\nprose\n");
  EXPECT_EQ(with_table(once, "new\n", "file"), once);
  EXPECT_THROW(with_table("# Title\n" + begin, "new\n", "file"), UserError);
  EXPECT_THROW(with_table(end + begin, "new\n", "file"), UserError);
}

}  // namespace
}  // namespace lengthwise
