#include "data/stored_source.h"

#include <gtest/gtest.h>

#include <set>

#include "data/data_set.h"
#include "data/jsonl.h"
#include "tests/data/temporary_folder.h"

namespace lengthwise {
namespace {

std::string line(const std::string& prompt, int64_t length) {
  std::string text;
  append_jsonl(text, {prompt, prompt + " done.", length, std::to_string(length)});
  return text;
}

/// Lengths 1..10 for training, 1..5 for validation and 11..20 for the test.
void write_data(const TemporaryFolder& folder) {
  std::string train, validation, test;
  for (int64_t i = 1; i <= 10; ++i) train += line("train word" + std::to_string(i), i);
  for (int64_t i = 1; i <= 5; ++i) validation += line("validation word" + std::to_string(i), i);
  for (int64_t i = 11; i <= 20; ++i) test += line("test word" + std::to_string(i), i);
  folder.write("train.jsonl", train);
  folder.write("validation.jsonl", validation);
  folder.write("test.jsonl", test);
}

DataConfig config_of(const TemporaryFolder& folder) {
  DataConfig config;
  config.data = folder.path().string();
  return config;
}

TEST(StoredSource, GivesTheExamplesOfItsFiles) {
  const TemporaryFolder folder;
  write_data(folder);
  const auto source = make_source(resolve(config_of(folder)));
  EXPECT_EQ(source->count(Split::train), 10);
  EXPECT_EQ(source->count(Split::validation), 5);
  EXPECT_EQ(source->count(Split::test), 10);
  Example example;
  source->get(Split::test, 3, example);
  EXPECT_EQ(example.prompt, "test word14");
  EXPECT_EQ(example.target, "test word14 done.");
  EXPECT_EQ(example.length, 14);
  EXPECT_EQ(example.category, "14");
  EXPECT_THROW(source->get(Split::test, 10, example), std::logic_error);
}

TEST(StoredSource, LengthsAndCountsChoose) {
  const TemporaryFolder folder;
  write_data(folder);
  DataConfig config = config_of(folder);
  config.train_lengths = LengthRange{3, 8};
  config.test_lengths = LengthRange{15, 100};
  config.train_count = 4;
  config.test_count = 2;
  const auto source = make_source(resolve(config));
  EXPECT_EQ(source->count(Split::train), 4);
  EXPECT_EQ(source->count(Split::validation), 3);
  EXPECT_EQ(source->count(Split::test), 2);
  Example example;
  source->get(Split::train, 3, example);
  EXPECT_EQ(example.length, 6);
  source->get(Split::test, 0, example);
  EXPECT_EQ(example.length, 15);
}

TEST(StoredSource, RefusesAChoiceItCannotMeet) {
  const TemporaryFolder folder;
  write_data(folder);
  DataConfig config = config_of(folder);
  config.train_lengths = LengthRange{50, 60};
  EXPECT_EQ(mistake_of([&] { make_source(resolve(config)); }),
            (folder / "train.jsonl").string() + " has no example of --train-lengths 50:60; its lengths are 1:10");
  config = config_of(folder);
  config.test_count = 11;
  EXPECT_EQ(mistake_of([&] { make_source(resolve(config)); }),
            (folder / "test.jsonl").string() + " has 10 examples, fewer than --test-count 11");
}

TEST(StoredSource, NamesAMissingFile) {
  const TemporaryFolder folder;
  write_data(folder);
  std::filesystem::remove(folder / "validation.jsonl");
  EXPECT_EQ(mistake_of([&] { make_source(resolve(config_of(folder))); }),
            (folder / "validation.jsonl").string() +
                " is missing; --data takes a folder with train.jsonl, validation.jsonl and test.jsonl");
  DataConfig config;
  config.data = (folder / "nothing").string();
  EXPECT_EQ(mistake_of([&] { make_source(resolve(config)); }), "--data " + config.data + " is not a folder");
}

TEST(StoredSource, TrainingNeedsAnExample) {
  const TemporaryFolder folder;
  write_data(folder);
  folder.write("train.jsonl", "");
  EXPECT_EQ(mistake_of([&] { make_source(resolve(config_of(folder))); }),
            (folder / "train.jsonl").string() + " holds no example");
}

TEST(StoredSource, TheVocabularyHasEveryWordInTheOrderOfTheFiles) {
  const TemporaryFolder folder;
  write_data(folder);
  const DataSet set = build_data_set(config_of(folder));
  EXPECT_EQ(set.vocabulary.token(3).text, "train");
  EXPECT_EQ(set.vocabulary.token(4).text, "word1");
  EXPECT_EQ(set.vocabulary.token(5).text, "done");
  EXPECT_EQ(set.vocabulary.token(set.vocabulary.size() - 1).text, "word20");
  EXPECT_EQ(set.vocabulary.decode(set.test.target(0)), "test word11 done.");
}

/// A small corpus in the form of the public one.
void write_corpus(const TemporaryFolder& folder, bool validation) {
  std::string train_source, train_target;
  for (int i = 1; i <= 20; ++i) {
    train_source += fmt::format("echo A{} B{}\n", i, i);
    train_target += fmt::format("A{} B{} B{}\n", i, i, i);
  }
  folder.write("train.src", train_source);
  folder.write("train.tgt", train_target);
  folder.write("test.src", "copy echo A1 B1\nreverse copy echo A1 B2\n");
  folder.write("test.tgt", "A1 B1 B1\nB2 B2 A1\n");
  if (!validation) return;
  folder.write("dev.src", "copy C1 C2\n");
  folder.write("dev.tgt", "C1 C2\n");
}

DataConfig corpus_config(const TemporaryFolder& folder) {
  DataConfig config;
  config.task = "pcfg";
  config.corpus = folder.path().string();
  return config;
}

TEST(Corpus, ATenthOfTrainingIsForValidation) {
  const TemporaryFolder folder;
  write_corpus(folder, false);
  const auto source = make_source(resolve(corpus_config(folder)));
  EXPECT_EQ(source->count(Split::train), 18);
  EXPECT_EQ(source->count(Split::validation), 2);
  EXPECT_EQ(source->count(Split::test), 2);
  std::set<std::string> prompts;
  Example example;
  for (const Split split : {Split::train, Split::validation}) {
    for (int64_t i = 0; i < source->count(split); ++i) {
      source->get(split, i, example);
      prompts.insert(example.prompt);
    }
  }
  EXPECT_EQ(prompts.size(), 20u);
}

TEST(Corpus, UsesItsOwnValidationFiles) {
  const TemporaryFolder folder;
  write_corpus(folder, true);
  DataConfig config = corpus_config(folder);
  config.train_count = 5;
  config.test_lengths = LengthRange{3, 3};
  const auto source = make_source(resolve(config));
  EXPECT_EQ(source->count(Split::train), 5);
  EXPECT_EQ(source->count(Split::validation), 1);
  EXPECT_EQ(source->count(Split::test), 1);
  const DataSet set = build_data_set(config);
  EXPECT_EQ(set.vocabulary.decode(set.test.target(0)), "B2 B2 A1");
}

}  // namespace
}  // namespace lengthwise
