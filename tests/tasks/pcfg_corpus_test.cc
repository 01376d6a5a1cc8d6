#include "tasks/pcfg_corpus.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "core/error.h"
#include "core/files.h"
#include "core/text.h"
#include "tasks/registry.h"
#include "tests/core/temporary_folder.h"

namespace lengthwise {
namespace {

/// A folder with a small good corpus that each test spoils in its own way.
class PcfgCorpusFiles : public testing::Test {
 protected:
  void SetUp() override {
    write("train.src", "copy A1 B2\nappend A1 B2 , reverse C3 D4\nrepeat Z20 Z19 Z18\n");
    write("train.tgt", "A1 B2\nA1 B2 D4 C3\nZ20 Z19 Z18 Z20 Z19 Z18\n");
    write("test.src", "swap_first_last echo B10 V8 A7\n");
    write("test.tgt", "A7 V8 A7 B10\n");
  }

  void write(const std::string& name, std::string_view text) { write_file(folder_ / name, text); }
  void remove(const std::string& name) { std::filesystem::remove(folder_ / name); }

  /// The error of reading the folder, the folder's own name left out.
  std::string error() const {
    try {
      read_pcfg_corpus(folder_, Wording::printed);
    } catch (const UserError& error) {
      std::string text = error.what();
      const std::string prefix = folder_.string() + "/";
      for (size_t at; (at = text.find(prefix)) != std::string::npos;) text.erase(at, prefix.size());
      return text;
    }
    return "read";
  }

  TemporaryFolder own_;
  std::filesystem::path folder_ = own_.path();
};

TEST_F(PcfgCorpusFiles, AreReadInOrder) {
  const PcfgCorpus corpus = read_pcfg_corpus(folder_, Wording::printed);
  ASSERT_EQ(corpus.train.size(), 3u);
  EXPECT_EQ(corpus.train[1].prompt, "append A1 B2 , reverse C3 D4");
  EXPECT_EQ(corpus.train[1].target, "A1 B2 D4 C3");
  EXPECT_EQ(corpus.train[1].length, 2);
  EXPECT_EQ(corpus.train[1].category, "2");
  EXPECT_EQ(corpus.train[2].length, 1);
  ASSERT_EQ(corpus.test.size(), 1u);
  EXPECT_EQ(corpus.test[0].target, "A7 V8 A7 B10");
  EXPECT_TRUE(corpus.validation.empty());
}

TEST_F(PcfgCorpusFiles, AreReadInTheReleasedWording) {
  const PcfgCorpus corpus = read_pcfg_corpus(folder_, Wording::released);
  EXPECT_EQ(corpus.train[1].prompt, "Solve: append A1 B2 , reverse C3 D4[SEP]");
  EXPECT_EQ(corpus.train[1].target, "A1 B2 D4 C3");
  for (const Example& example : corpus.train) EXPECT_EQ(find_task("pcfg").solve(example.prompt, {}), example.target);
}

TEST_F(PcfgCorpusFiles, MayHaveADevelopmentSet) {
  write("dev.src", "shift A1 B2 C3");
  write("dev.tgt", "B2 C3 A1");
  const PcfgCorpus corpus = read_pcfg_corpus(folder_, Wording::printed);
  ASSERT_EQ(corpus.validation.size(), 1u);
  EXPECT_EQ(corpus.validation[0].prompt, "shift A1 B2 C3");
}

TEST_F(PcfgCorpusFiles, MayHaveOtherSpacesAndLineEnds) {
  write("train.src", "copy  A1 B2 \r\nappend A1 B2, reverse C3 D4");
  write("train.tgt", " A1 B2\r\nA1\tB2 D4 C3");
  const PcfgCorpus corpus = read_pcfg_corpus(folder_, Wording::printed);
  ASSERT_EQ(corpus.train.size(), 2u);
  EXPECT_EQ(corpus.train[0].prompt, "copy A1 B2");
  EXPECT_EQ(corpus.train[1].prompt, "append A1 B2 , reverse C3 D4");
  EXPECT_EQ(corpus.train[1].target, "A1 B2 D4 C3");
}

TEST_F(PcfgCorpusFiles, AGeneratedCorpusComesBackWhole) {
  const Task& task = find_task("pcfg");
  std::string sources, targets;
  std::vector<Example> examples;
  for (int64_t length = 1; length <= 35; ++length) {
    for (int64_t index = 0; index < 10; ++index) {
      Example& example = examples.emplace_back();
      task.generate({.bin = {.length = length, .count = 10}, .index = index, .rng = Rng(5)}, {}, example);
      sources += example.prompt + "\n";
      targets += example.target + "\n";
    }
  }
  write("train.src", sources);
  write("train.tgt", targets);
  const PcfgCorpus corpus = read_pcfg_corpus(folder_, Wording::printed);
  ASSERT_EQ(corpus.train.size(), examples.size());
  for (size_t i = 0; i < examples.size(); ++i) {
    EXPECT_EQ(corpus.train[i].prompt, examples[i].prompt);
    EXPECT_EQ(corpus.train[i].target, examples[i].target);
    EXPECT_EQ(corpus.train[i].length, examples[i].length);
    EXPECT_EQ(corpus.train[i].category, examples[i].category);
  }
}

TEST_F(PcfgCorpusFiles, NameTheLineOfABadSource) {
  write("train.src", "copy A1 B2\nappend A1 B2 reverse C3 D4\nrepeat Z20 Z19 Z18\n");
  EXPECT_EQ(error(),
            "train.src:2: cannot parse \"append A1 B2 reverse C3 D4\": expected a symbol or ',' at word 4, found "
            "'reverse'");
  write("train.src", "copy A1 B2\nappend A1 B2 , reverse C3 D4\n\n");
  EXPECT_EQ(error(), "train.src:3: cannot parse \"\": expected a function at word 1, found the end");
  write("train.src", "copy A1 B2[SEP]\nappend A1 B2 , reverse C3 D4\nrepeat Z20 Z19 Z18\n");
  EXPECT_TRUE(error().starts_with("train.src:1: cannot parse")) << error();
}

TEST_F(PcfgCorpusFiles, NameTheLineOfAWrongTarget) {
  write("train.tgt", "A1 B2\nA1 B2 C3 D4\nZ20 Z19 Z18 Z20 Z19 Z18\n");
  EXPECT_EQ(error(),
            "train.tgt:2: the value of \"append A1 B2 , reverse C3 D4\" is \"A1 B2 D4 C3\", not \"A1 B2 C3 D4\"");
  write("train.tgt", "A1 B2\nA1 B2 D4 C3\n\n");
  EXPECT_TRUE(error().starts_with("train.tgt:3: the value of")) << error();
}

TEST_F(PcfgCorpusFiles, MustBeAligned) {
  write("test.tgt", "A7 V8 A7 B10\nA1\n");
  EXPECT_EQ(error(), "test.src has 1 lines but test.tgt has 2; line n of one belongs to line n of the other");
}

TEST_F(PcfgCorpusFiles, MustExistAndHaveContent) {
  remove("test.tgt");
  EXPECT_TRUE(error().starts_with("cannot read test.tgt: ")) << error();
  write("test.src", "");
  write("test.tgt", "");
  EXPECT_EQ(error(), "test.src: the file is empty; one example a line was expected");
  EXPECT_THROW(read_pcfg_corpus(folder_ / "nowhere", Wording::printed), UserError);
}

TEST_F(PcfgCorpusFiles, NeedBothDevelopmentFiles) {
  write("dev.tgt", "B2 C3 A1");
  EXPECT_TRUE(error().starts_with("cannot read dev.src: ")) << error();
}

}  // namespace
}  // namespace lengthwise
