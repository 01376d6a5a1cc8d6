/// Every task, in both wordings and with every scratchpad it has: its lexicon covers its texts, and encoding loses
/// nothing of them.
#include <gtest/gtest.h>

#include "core/text.h"
#include "data/example_source.h"
#include "data/vocabulary.h"
#include "tasks/registry.h"

namespace lengthwise {
namespace {

void expect_round_trip(const Vocabulary& vocabulary, const std::string& text, const std::string& where) {
  EXPECT_EQ(text, collapse_spaces(text)) << where;
  std::vector<int32_t> ids;
  ASSERT_NO_THROW(vocabulary.encode(text, ids)) << where << ": " << text;
  EXPECT_EQ(vocabulary.decode(ids), text) << where;
}

TEST(RoundTrip, EncodingLosesNothingOfAnyTask) {
  for (const auto& task : tasks()) {
    const TaskInfo& info = task->info();
    for (const Wording wording : {Wording::printed, Wording::released}) {
      const Vocabulary vocabulary(*task, wording);
      for (const NamedScratchpad& scratchpad : named_scratchpads()) {
        if (scratchpad.format.any() && !info.scratchpad) continue;
        DataConfig config;
        config.task = info.name;
        config.wording = wording;
        config.scratchpad = scratchpad.format;
        config.train_count = 200;
        config.test_count = 200;
        const auto source = make_source(resolve(config));
        const std::string where = info.name + " " + to_text(wording) + " " + scratchpad.name;
        Example example;
        for (const Split split : {Split::train, Split::validation, Split::test}) {
          for (int64_t i = 0; i < source->count(split); ++i) {
            source->get(split, i, example);
            expect_round_trip(vocabulary, example.prompt, where);
            expect_round_trip(vocabulary, example.target, where);
          }
        }
      }
    }
  }
}

TEST(RoundTripLong, EncodingLosesNothingOfAnyWholeSplit) {
  for (const auto& task : tasks()) {
    for (const Wording wording : {Wording::printed, Wording::released}) {
      const Vocabulary vocabulary(*task, wording);
      DataConfig config;
      config.task = task->info().name;
      config.wording = wording;
      if (task->info().scratchpad) from_text("full", config.scratchpad);
      const auto source = make_source(resolve(config));
      Example example;
      for (const Split split : {Split::train, Split::validation, Split::test}) {
        for (int64_t i = 0; i < source->count(split); ++i) {
          source->get(split, i, example);
          expect_round_trip(vocabulary, example.prompt, config.task);
          expect_round_trip(vocabulary, example.target, config.task);
        }
      }
    }
  }
}

}  // namespace
}  // namespace lengthwise
