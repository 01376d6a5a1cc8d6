// Comparisons as tables for documents.
#include "report/markdown.h"

#include <gtest/gtest.h>

#include "core/files.h"
#include "results/run_costs.h"
#include "tests/core/mistake.h"
#include "tests/core/temporary_folder.h"
#include "tests/results/made_run.h"

namespace lengthwise {
namespace {

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// Two tasks, two seeds; on `copy` everything takes twice the time, and seed 2 of NoPE was disturbed once.
void make_study(const TemporaryFolder& folder) {
  for (const char* task : {"sort", "copy"}) {
    for (int64_t seed = 1; seed <= 2; ++seed) {
      const double slow = std::string(task) == "copy" ? 2 : 1;
      const std::string end = std::string(task) + std::to_string(seed);
      make_run(folder / ("n" + end),
               {.task = task, .encoding = "nope", .seed = seed, .longer_correct = 8, .training_seconds = 10 * slow});
      make_run(folder / ("x" + end), {.task = task,
                                      .encoding = "x|y",
                                      .seed = seed,
                                      .label = "X|Y <b>",
                                      .family = "content",
                                      .trained_correct = seed == 2 && slow == 1 ? 4 : 10,
                                      .longer_correct = 2,
                                      .training_seconds = (seed == 2 && slow == 2 ? 90 : 15) * slow,
                                      .parameters = 1240});
    }
  }
}

Comparison compare(const Results& results) {
  std::vector<std::string> notes;
  return compare_scores(scores_of(results, notes), {});
}

TEST(RunCosts, AreThoseBesideNoPE) {
  const TemporaryFolder folder;
  make_study(folder);
  make_run(folder / "unmeasured", {.task = "sort", .encoding = "t5", .seed = 3});
  const Results results = load_results(folder.path());
  const std::vector<EncodingCost> costs = encoding_costs(results, {"nope", "x|y", "t5", "absent"});
  ASSERT_EQ(costs.size(), 4u);
  EXPECT_EQ(costs[0].step_time, 1);
  EXPECT_EQ(costs[0].more_parameters, 0);
  EXPECT_DOUBLE_EQ(costs[1].step_time.value(), 1.5) << "the middle of 1.5, 1.5, 1.5 and 9, whatever the task takes";
  EXPECT_DOUBLE_EQ(costs[1].step_seconds.value(), (.15 + .3) / 2);
  EXPECT_EQ(costs[1].more_parameters, 6);
  EXPECT_FALSE(costs[2].step_time || costs[2].step_seconds || costs[2].more_parameters) << "nothing to hold it against";
  EXPECT_FALSE(costs[3].step_time);
}

TEST(RunCosts, DoWithoutADamagedNote) {
  const TemporaryFolder folder;
  make_run(folder / "a", {.training_seconds = 10});
  write_file(folder / "a" / "origin.json", "{");
  const Results results = load_results(folder.path());
  EXPECT_EQ(results.runs[0].state, StoredState::finished) << "the results do not rest on it";
  EXPECT_FALSE(results.runs[0].training_seconds);
}

TEST(Markdown, HasRankingTasksReachAndCosts) {
  const TemporaryFolder folder;
  make_study(folder);
  const Results results = load_results(folder.path());
  const std::string text = comparison_markdown(results, compare(results));
  EXPECT_TRUE(text.starts_with("8 runs: 2 encodings, 2 tasks, 2 seeds, on Some CPU, commit `0123abc`. NoPE works best"))
      << text;
  EXPECT_TRUE(
      contains(text, "|  | encoding | family | MRR | primitive | reasoning | longer | trained |\n|---|---|---|--:|"));
  EXPECT_TRUE(contains(text, "| 1 | NoPE | none | 1.000 (")) << text;
  EXPECT_TRUE(contains(text, "| 2 | X\\|Y &lt;b&gt; | content | .500 (")) << text;
  // By task: 8 and 4 of 10; NoPE solves both, the other neither, and one of its seeds did not learn sort.
  EXPECT_TRUE(contains(text, "| encoding | copy | sort | solved |")) << text;
  EXPECT_TRUE(contains(text, "| NoPE | **.600** | **.600** | 2 |")) << text;
  EXPECT_TRUE(contains(text, "| X\\|Y &lt;b&gt; | .150 | .150 ✗ | 0 |")) << text;
  // Trained to 2, so 3 is 1.5 times and 4 twice as long.
  EXPECT_TRUE(contains(text, "| encoding | trained | to 1.25× | to 1.5× | to 2× |")) << text;
  EXPECT_TRUE(contains(text, "| NoPE | 1.000 | – | .800 | .400 |")) << text;
  EXPECT_TRUE(contains(text, "| NoPE | none | 1.00× | 150.00 | +0 |")) << text;
  EXPECT_TRUE(contains(text, "| X\\|Y &lt;b&gt; | content | 1.50× | 225.00 | +6 |")) << text;
  EXPECT_FALSE(contains(comparison_markdown({}, compare(results)), "costs")) << "of a table nobody knows them";
}

TEST(Markdown, ReplacesThePartBetweenTheMarks) {
  const std::string begin = "<!-- the tables of a comparison begin: written by `lengthwise compare --into` -->";
  const std::string end = "<!-- the tables of a comparison end -->";
  const std::string once = with_comparison("# A\n" + begin + "\nold\n" + end + "\nrest\n", "new\n", "file");
  EXPECT_EQ(once, "# A\n" + begin + "\n\nnew\n\n" + end + "\nrest\n");
  EXPECT_EQ(with_comparison(once, "new\n", "file"), once);
  EXPECT_TRUE(mistake_of([&] {
                with_comparison("# A\n" + end + begin, "new", "file");
              }).starts_with("file has no place for the table: a line `<!--"));
}

}  // namespace
}  // namespace lengthwise
