#include "study/forecast.h"

#include <gtest/gtest.h>

#include "study/done.h"
#include "study/estimate.h"
#include "tests/core/temporary_folder.h"
#include "tests/study/small_study.h"

namespace lengthwise {
namespace {

std::vector<BoardEntry> waiting(const StudyPlan& plan) {
  std::vector<BoardEntry> entries(plan.runs.size());
  for (size_t i = 0; i < entries.size(); ++i) entries[i].record.steps = plan.runs[i].config.steps;
  return entries;
}

TEST(Forecast, KnowsNothingBeforeAnythingRan) {
  const StudyPlan plan = small_plan("seed = [1, 2]\n");
  EXPECT_FALSE(Forecast(plan, 1).seconds_left(waiting(plan)).has_value());
}

TEST(Forecast, RunsOfOneKindTakeTheSameTime) {
  const StudyPlan plan = small_plan("encoding = ['nope', 't5']\nseed = [1, 2]\n");
  std::vector<BoardEntry> entries = waiting(plan);
  entries[0].record.state = RecordState::finished;
  entries[0].record.seconds = 10;
  EXPECT_DOUBLE_EQ(*Forecast(plan, 1).seconds_left(entries), 30);
  EXPECT_DOUBLE_EQ(*Forecast(plan, 3).seconds_left(entries), 10);
  EXPECT_DOUBLE_EQ(*Forecast(plan, 100).seconds_left(entries), 10) << "no less than the longest run";
}

TEST(Forecast, OtherRunsTakeTimeInProportionToTheirWork) {
  const StudyPlan plan = plan_study(parse_study("task = 'sort'\nsteps = [100, 300]\n", "f.toml"));
  std::vector<BoardEntry> entries = waiting(plan);
  entries[0].record.state = RecordState::finished;
  entries[0].record.seconds = 10;
  EXPECT_NEAR(*Forecast(plan, 1).seconds_left(entries), 30, 1e-9);
}

TEST(Forecast, ARunGoesOnAsItDid) {
  const StudyPlan plan = small_plan("seed = [1]\n");
  std::vector<BoardEntry> entries = waiting(plan);
  entries[0].record.state = RecordState::running;
  entries[0].here = true;
  entries[0].first_step = 4;
  entries[0].record.step = 8;
  entries[0].run_seconds = 2;
  EXPECT_DOUBLE_EQ(*Forecast(plan, 1).seconds_left(0, entries), 8);
}

TEST(Estimate, SchedulesRunsOverJobs) {
  EXPECT_DOUBLE_EQ(scheduled_seconds({4, 3, 2, 1}, 1), 10);
  EXPECT_DOUBLE_EQ(scheduled_seconds({4, 3, 2, 1}, 2), 5);
  EXPECT_DOUBLE_EQ(scheduled_seconds({4, 3, 2, 1}, 10), 4);
  EXPECT_DOUBLE_EQ(scheduled_seconds({}, 2), 0);
}

TEST(Estimate, DiskIsWhatARunLeaves) {
  const TemporaryFolder folder;
  const StudyPlan plan = small_plan("encoding = ['t5']\n");
  const uint64_t expected = disk_bytes(plan.runs[0].config);
  EXPECT_GE(bytes_to_come(folder / "study", plan, 1), expected);
  carry_out(folder / "study", plan);
  uint64_t bytes = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder / "study/runs/t5")) bytes += entry.file_size();
  EXPECT_LE(bytes, expected);
  EXPECT_GE(bytes, expected / 2);
}

TEST(Estimate, TimesEveryRunAndGrowsWithItsSteps) {
  const StudyPlan plan =
      plan_study(parse_study("task = 'parity'\ntrain-lengths = '3:4'\ntest-lengths = '5:6'\ntrain-count = 200\n"
                             "test-count = 20\nlayers = 1\nwidth = 32\nheads = 2\n"
                             "scratchpad = ['none', 'minimal']\nsteps = [100, 200]\nseed = [1, 2]\n"
                             "encoding = ['nope', 'transformer-xl']\n",
                             "f.toml"));
  size_t kinds = 0;
  const std::vector<RunCost> costs =
      estimate_costs(plan, {.jobs = 2, .threads = 2}, [&](size_t, size_t total) { kinds = total; });
  EXPECT_EQ(kinds, 4u) << "two formats, and an encoding with fused kernels or without";
  ASSERT_EQ(costs.size(), plan.runs.size());
  for (size_t i = 0; i < costs.size(); ++i) {
    EXPECT_GT(costs[i].seconds, 0);
    EXPECT_GT(costs[i].bytes, 0u);
    for (size_t j = 0; j < costs.size(); ++j) {
      TrainConfig like = plan.runs[j].config;
      like.steps = plan.runs[i].config.steps;
      like.validate_every = plan.runs[i].config.validate_every;
      like.checkpoint_every = plan.runs[i].config.checkpoint_every;
      const bool longer = plan.runs[i].config.steps > plan.runs[j].config.steps;
      if (longer && run_identity(like) == run_identity(plan.runs[i].config)) {
        EXPECT_GT(costs[i].seconds, costs[j].seconds);
      }
    }
  }
}

}  // namespace
}  // namespace lengthwise
