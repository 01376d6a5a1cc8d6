#include "data/text_windows.h"

#include <gtest/gtest.h>

#include "data/fingerprint.h"
#include "data/remarks.h"
#include "tests/core/mistake.h"
#include "tests/text/made_text.h"

namespace lengthwise {
namespace {

class TextWindows : public testing::Test {
 protected:
  void SetUp() override {
    path_ = make_text(folder_, "text", {letters(100, 1), letters(7, 2), letters(31, 3)}, {letters(40, 4)},
                      {letters(50, 5)});
    text_ = open_text(path_);
    stream_ = text_.stream(TextSplit::train);
  }
  DataConfig config() const {
    DataConfig config;
    config.text = path_.string();
    config.context = 16;
    return config;
  }

  TemporaryFolder folder_;
  std::filesystem::path path_;
  PreparedText text_;
  std::shared_ptr<const TextStream> stream_;
};

/// How often each token of the stream is a target, and how many tokens of its window stand before it at least.
struct Coverage {
  std::vector<int> times;
  std::vector<int64_t> before;
};
Coverage coverage_of(const TokenSet& set, size_t tokens) {
  Coverage coverage{std::vector<int>(tokens), std::vector<int64_t>(tokens)};
  for (int64_t i = 0; i < set.size(); ++i) {
    const auto at = static_cast<size_t>(i);
    for (int64_t t = set.prompt_tokens[at]; t < set.window_tokens[at]; ++t) {
      const auto place = static_cast<size_t>(set.offsets[at] + t);
      ++coverage.times[place];
      coverage.before[place] = t;
    }
  }
  return coverage;
}

TEST_F(TextWindows, MakeEveryTokenATargetOnce) {
  for (const int64_t context : {1, 3, 16, 99, 100, 101, 500}) {
    for (const int64_t stride : {int64_t{0}, int64_t{1}, context / 2, context}) {
      const TokenSet set = text_windows(stream_, {.context = context, .stride = stride});
      const size_t tokens = stream_->tokens().size();
      const Coverage coverage = coverage_of(set, tokens);
      for (int64_t document = 0; document < 3; ++document) {
        for (int64_t t = stream_->begin(document); t < stream_->end(document); ++t) {
          const bool first = t == stream_->begin(document);
          EXPECT_EQ(coverage.times[static_cast<size_t>(t)], first ? 0 : 1) << context << " " << stride << " " << t;
          const int64_t own = t - stream_->begin(document);
          const int64_t least = std::min(own, context - (stride == 0 ? context : stride) + 1);
          EXPECT_GE(coverage.before[static_cast<size_t>(t)], least);
          EXPECT_LE(coverage.before[static_cast<size_t>(t)], std::min(own, context));
        }
      }
    }
  }
}

TEST_F(TextWindows, NeverMixDocumentsUnlessAskedTo) {
  const auto begins_inside = [&](const TokenSet& set) {
    int64_t count = 0;
    for (int64_t i = 0; i < set.size(); ++i) {
      const TokenView window = set.sequence(i);
      for (size_t t = 1; t < window.size(); ++t) count += window[t] == Vocabulary::kBos ? 1 : 0;
      EXPECT_EQ(window.size(), static_cast<size_t>(set.window_tokens[static_cast<size_t>(i)]));
    }
    return count;
  };
  EXPECT_EQ(begins_inside(text_windows(stream_, {.context = 16})), 0);
  const TokenSet crossed = text_windows(stream_, {.context = 16, .cross_documents = true});
  EXPECT_EQ(begins_inside(crossed), 2);
  EXPECT_EQ(crossed.size(), (std::ssize(stream_->tokens()) - 1 + 15) / 16);
  for (const int times : coverage_of(crossed, stream_->tokens().size()).times) EXPECT_LE(times, 1);
}

TEST_F(TextWindows, StayWhereTheTextIsMapped) {
  const TokenSet set = text_windows(stream_, {.context = 16});
  EXPECT_EQ(set.text.get(), stream_->tokens().data());
  EXPECT_TRUE(set.tokens.empty());
  EXPECT_EQ(set.sequence(1)[0], stream_->tokens()[16]);
  EXPECT_EQ(set.prompt(1).size(), 1u);
  EXPECT_EQ(set.target(1).size(), 16u);
  EXPECT_EQ(set.target(1)[0], stream_->tokens()[17]);
}

TEST_F(TextWindows, BecomeADataSet) {
  const DataSet set = build_data_set(config());
  EXPECT_EQ(set.vocabulary.size(), 259);
  EXPECT_EQ(set.train.size(), 7 + 1 + 2);
  EXPECT_EQ(set.validation.size(), 3);
  EXPECT_EQ(set.test.size(), 4);
  const TokenView first = set.validation.sequence(0);
  std::vector<int32_t> ids(first.begin(), first.end());
  EXPECT_EQ(set.vocabulary.decode(ids), letters(40, 4).substr(0, 16));
  EXPECT_EQ(set.vocabulary.encode("a\u00e9"), (std::vector<int32_t>{3 + 'a', 3 + 0xC3, 3 + 0xA9}));
  EXPECT_EQ(Vocabulary::from_json(set.vocabulary.to_json(), "test"), set.vocabulary);
  EXPECT_TRUE(remarks(config(), set).empty());
  std::vector<int64_t> bytes = bytes_of_tokens(set.vocabulary);
  EXPECT_EQ(std::count(bytes.begin(), bytes.end(), 1), 256);
  DataConfig fewer = config();
  fewer.train_count = 4;
  fewer.validation_count = 2;
  fewer.test_count = 2;
  const DataSet less = build_data_set(fewer);
  EXPECT_EQ(less.train.size(), 4);
  EXPECT_EQ(less.validation.size(), 2);
  EXPECT_EQ(less.test.size(), 2);
  EXPECT_EQ(less.test.sequence(1).size(), 17u);
}

TEST_F(TextWindows, HaveAFingerprintThatTellsTextsApart) {
  const std::string own = data_fingerprint(build_data_set(config()));
  EXPECT_EQ(own, data_fingerprint(build_data_set(config())));
  DataConfig other = config();
  other.context = 17;
  EXPECT_NE(own, data_fingerprint(build_data_set(other)));
  other = config();
  other.text =
      make_text(folder_, "other", {letters(100, 1), letters(7, 2), letters(31, 9)}, {letters(40, 4)}, {letters(50, 5)})
          .string();
  EXPECT_NE(own, data_fingerprint(build_data_set(other)));
}

TEST_F(TextWindows, WrongOptionsAreRefused) {
  const auto mistake = [&](const std::function<void(DataConfig&)>& change) {
    DataConfig changed = config();
    change(changed);
    return mistake_of([&] { build_data_set(changed); });
  };
  EXPECT_EQ(mistake([](DataConfig&) {}), "");
  EXPECT_EQ(mistake([](DataConfig& c) { c.task = "sort"; }), "--text and --task exclude each other; give one of them");
  EXPECT_EQ(mistake([](DataConfig& c) {
              c.train_lengths = LengthRange{1, 2};
            }),
            "--train-lengths does not go with --text");
  EXPECT_EQ(mistake([](DataConfig& c) { c.context = -1; }), "--context must be between 1 and 1048576, not -1");
  EXPECT_EQ(mistake([](DataConfig& c) { c.contexts = "16,x"; }),
            "--contexts '16,x' is no list of numbers of tokens between 1 and 1048576; 128,256 would be one");
  EXPECT_EQ(mistake([](DataConfig& c) { c.context = 102; }),
            fmt::format("no training document of {} has the 102 tokens of --context; the longest gives 101, and "
                        "--cross-documents would make one stream of all documents",
                        path_.string()));
  EXPECT_EQ(mistake([](DataConfig& c) {
              c.context = 1000;
              c.cross_documents = true;
            }),
            fmt::format("no stream of {} has the 1000 tokens of --context; the longest gives 143", path_.string()));
  DataConfig task;
  task.task = "sort";
  task.context = 3;
  EXPECT_EQ(mistake_of([&] { resolve(task); }), "--context goes with --text");
  EXPECT_EQ(read_contexts("64, 16,64"), (std::vector<int64_t>{16, 64}));
}

}  // namespace
}  // namespace lengthwise
