#include "study/jobs.h"

#include <gtest/gtest.h>

#include "tests/study/small_study.h"

namespace lengthwise {
namespace {

TEST(SuitableJobs, FollowWhatAModelLeavesToOthers) {
  EXPECT_EQ(suitable_jobs("cuda", 85'000'000, 16), 2);
  EXPECT_EQ(suitable_jobs("cuda", 3'200'000, 16), 4);
  EXPECT_EQ(suitable_jobs("cuda", 400'000, 2), 8);
  EXPECT_EQ(suitable_jobs("cpu", 400'000, 6), 6);
  EXPECT_EQ(suitable_jobs("cpu", 85'000'000, 6), 1);
}

TEST(SuitableJobs, AreNoMoreThanThereAreRuns) {
  StudyPlan plan = small_plan("seed = [1, 2, 3]\n");
  for (StudyRun& run : plan.runs) run.config.device = "cpu";
  EXPECT_EQ(suitable_jobs(plan, 2), 2);
  EXPECT_EQ(suitable_jobs(plan, 16), 3);
  plan.runs[1].config.device = "cuda";
  EXPECT_EQ(suitable_jobs(plan, 1), 3) << "one run on a GPU decides";
}

TEST(SuitableJobs, FollowTheLargestModel) {
  StudyPlan plan = plan_study(parse_study("task = 'sort'\nmodel = ['tiny', 'base']\nseed = [1, 2, 3]\n", "f.toml"));
  for (StudyRun& run : plan.runs) run.config.device = "cuda";
  EXPECT_EQ(suitable_jobs(plan, 1), 2);
}

}  // namespace
}  // namespace lengthwise
