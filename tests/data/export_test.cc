#include "data/export.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/text.h"
#include "data/data_set.h"
#include "tests/core/few_files.h"
#include "tests/data/temporary_folder.h"

namespace lengthwise {
namespace {

DataConfig small() {
  DataConfig config;
  config.task = "addition";
  config.train_count = 200;
  config.test_count = 192;
  return config;
}

std::vector<std::string> names_in(const std::filesystem::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

TEST(Export, WritesThreeFilesThatReadBackAsTheSameExamples) {
  const TemporaryFolder folder;
  const SplitCounts exported = export_data(small(), folder / "new/data");
  EXPECT_EQ(exported.train, 200);
  EXPECT_EQ(exported.validation, 29);
  EXPECT_EQ(exported.test, 192);
  EXPECT_EQ(names_in(folder / "new"), std::vector<std::string>{"data"});
  EXPECT_EQ(names_in(folder / "new/data"), (std::vector<std::string>{"test.jsonl", "train.jsonl", "validation.jsonl"}));
  DataConfig read;
  read.data = (folder / "new/data").string();
  const auto written = make_source(resolve(small()));
  const auto back = make_source(resolve(read));
  Example one, two;
  for (const Split split : {Split::train, Split::validation, Split::test}) {
    ASSERT_EQ(written->count(split), back->count(split));
    for (int64_t i = 0; i < written->count(split); ++i) {
      written->get(split, i, one);
      back->get(split, i, two);
      EXPECT_EQ(one.prompt, two.prompt);
      EXPECT_EQ(one.target, two.target);
      EXPECT_EQ(one.length, two.length);
      EXPECT_EQ(one.category, two.category);
    }
  }
}

TEST(Export, RemovesWhatKilledOnesLeft) {
  const TemporaryFolder folder;
  const int dead = [] {
    const pid_t child = ::fork();
    if (child == 0) ::_exit(0);
    ::waitpid(child, nullptr, 0);
    return static_cast<int>(child);
  }();
  const int alive = static_cast<int>(::getppid());
  for (const int process : {dead, alive, static_cast<int>(::getpid())}) {
    const std::filesystem::path part = folder / fmt::format("data.{}.part", process);
    std::filesystem::create_directory(part);
    write_file(part / "train.jsonl", "half");
    write_file(part / "stray", "");
  }
  for (const char* other : {"data.part", "data.x.part", "data.-1.part", "other.1.part"})
    std::filesystem::create_directory(folder / other);
  export_data(small(), folder / "data");
  EXPECT_EQ(names_in(folder / ""), (std::vector<std::string>{"data", "data.-1.part", fmt::format("data.{}.part", alive),
                                                             "data.part", "data.x.part", "other.1.part"}));
  EXPECT_EQ(names_in(folder / "data"), (std::vector<std::string>{"test.jsonl", "train.jsonl", "validation.jsonl"}));
}

TEST(Export, IsTheSameEveryTime) {
  const TemporaryFolder folder;
  export_data(small(), folder / "one");
  export_data(small(), folder / "two");
  for (const char* name : {"train.jsonl", "validation.jsonl", "test.jsonl"}) {
    EXPECT_EQ(read_file(folder / "one" / name), read_file(folder / "two" / name));
  }
}

TEST(Export, TakesAnEmptyFolderAndRefusesAFullOne) {
  const TemporaryFolder folder;
  make_folder(folder / "empty");
  export_data(small(), folder / "empty/");
  EXPECT_EQ(names_in(folder / "empty").size(), 3u);
  EXPECT_EQ(mistake_of([&] { export_data(small(), folder / "empty"); }),
            (folder / "empty").string() + " exists already and is not empty; name a new folder");
  folder.write("file", "x");
  EXPECT_EQ(mistake_of([&] { export_data(small(), folder / "file"); }),
            (folder / "file").string() + " exists already and is not a folder; name a new folder");
  EXPECT_EQ(names_in(folder.path()), (std::vector<std::string>{"empty", "file"}));
}

TEST(Export, LeavesNothingBehindWhenItFails) {
  const TemporaryFolder folder;
  DataConfig config;
  config.data = (folder / "source").string();
  make_folder(folder / "source");
  folder.write("source/train.jsonl", "{\"prompt\":\"a\",\"target\":\"b\",\"length\":1}\n");
  folder.write("source/validation.jsonl", "");
  folder.write("source/test.jsonl", "not JSON\n");
  EXPECT_NE(mistake_of([&] { export_data(config, folder / "out"); }), "");
  EXPECT_EQ(names_in(folder.path()), std::vector<std::string>{"source"});
}

TEST(Export, LeavesNothingBehindWhereFewFilesMayBeOpen) {
  const TemporaryFolder folder;
  for (const rlim_t files : {0, 1}) {
    const FewFiles few(files);
    EXPECT_NE(mistake_of([&] { export_data(small(), folder / "out"); }).find("Too many open files"), std::string::npos);
  }
  EXPECT_EQ(names_in(folder.path()), std::vector<std::string>());
  {
    const FewFiles few(2);
    export_data(small(), folder / "out");
  }
  EXPECT_EQ(names_in(folder.path()), std::vector<std::string>{"out"});
}

TEST(Export, DropsKnownPromptsWhenAsked) {
  const TemporaryFolder folder;
  DataConfig config;
  config.task = "parity";
  config.train_count = 400;
  config.validation_count = 300;
  config.test_count = 50;
  config.dedup = true;
  const SplitCounts exported = export_data(config, folder / "out");
  const DataSet set = build_data_set(config);
  EXPECT_EQ(exported.validation, set.validation.size());
  EXPECT_LT(exported.validation, 300);
  EXPECT_GT(exported.validation, 0);
  DataConfig read;
  read.data = (folder / "out").string();
  const DataSet back = build_data_set(read);
  ASSERT_EQ(back.validation.size(), set.validation.size());
  for (int64_t i = 0; i < set.validation.size(); ++i) {
    EXPECT_EQ(back.vocabulary.decode(back.validation.prompt(i)), set.vocabulary.decode(set.validation.prompt(i)));
  }
}

}  // namespace
}  // namespace lengthwise
