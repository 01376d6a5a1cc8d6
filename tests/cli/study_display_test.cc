#include "cli/study_display.h"

#include <gtest/gtest.h>

#include "tests/study/small_study.h"

namespace lengthwise {
namespace {

/// What a plain display writes about a study of one run, `nope`, that is seen in these states one after the other.
std::string told(const std::vector<BoardEntry>& states) {
  const StudyPlan plan = small_plan("encoding = ['nope']\n");
  testing::internal::CaptureStderr();
  StudyDisplay display(plan, "nowhere", 1, DisplayMode::plain);
  for (const BoardEntry& state : states) display.show({state});
  return testing::internal::GetCapturedStderr();
}

BoardEntry state(RecordState state, bool here, int64_t first_step = 0) {
  BoardEntry entry;
  entry.record.state = state;
  entry.here = here;
  entry.first_step = first_step;
  return entry;
}

TEST(StudyDisplay, TellsOfEachChangeOnce) {
  EXPECT_EQ(
      told({state(RecordState::waiting, false), state(RecordState::running, true), state(RecordState::running, true)}),
      "nope: started\n");
  EXPECT_EQ(told({state(RecordState::waiting, false), state(RecordState::running, true, 4)}), "nope: resumed\n");
  EXPECT_EQ(told({state(RecordState::waiting, false), state(RecordState::running, false)}),
            "nope: started by another process\n");
}

TEST(StudyDisplay, TellsOfARunTakenOverBetweenTwoLooks) {
  EXPECT_EQ(told({state(RecordState::running, false), state(RecordState::running, true, 4)}), "nope: resumed\n");
}

}  // namespace
}  // namespace lengthwise
