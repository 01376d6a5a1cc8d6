#include "cli/options.h"

#include <gtest/gtest.h>

#include <CLI/CLI.hpp>

#include "cli/help.h"
#include "core/error.h"
#include "core/files.h"
#include "tests/core/temporary_folder.h"

namespace lengthwise {
namespace {

struct Sample {
  std::string task = "copy";
  std::optional<LengthRange> lengths;
  int64_t count = 7;
  double rate = 0.5;
  bool dedup = false;
  bool shuffle = true;
  std::optional<bool> strict;

  template <class Visitor>
  void visit(Visitor&& field) {
    field("task", task, "what to learn");
    field("train-lengths", lengths, "lengths of training");
    field("count", count, "how many");
    field("rate", rate, "how fast");
    field("dedup", dedup, "drop duplicates");
    field("shuffle", shuffle, "mix the order");
    field("strict", strict, "be strict");
  }
};

struct Parsed {
  Sample config;
  std::string error;
  std::string help;
};

Parsed parse(std::vector<std::string> arguments, bool file_option_first = false) {
  Parsed parsed;
  CLI::App app("test", "test");
  prepare_command(app);
  if (file_option_first) add_config_file(app, parsed.config);
  add_options(app, parsed.config);
  if (!file_option_first) add_config_file(app, parsed.config);
  parsed.help = app.help();
  std::reverse(arguments.begin(), arguments.end());
  try {
    app.parse(arguments);
  } catch (const std::exception& error) {
    parsed.error = error.what();
  }
  return parsed;
}

TEST(Options, SetEveryKindOfField) {
  const Parsed parsed = parse({"--task", "sort", "--train-lengths=2:9", "--count", "-3", "--rate", "1e-3", "--dedup",
                               "--no-shuffle", "--strict"});
  EXPECT_EQ(parsed.error, "");
  EXPECT_EQ(parsed.config.task, "sort");
  EXPECT_EQ(parsed.config.lengths, (LengthRange{2, 9}));
  EXPECT_EQ(parsed.config.count, -3);
  EXPECT_EQ(parsed.config.rate, 1e-3);
  EXPECT_TRUE(parsed.config.dedup);
  EXPECT_FALSE(parsed.config.shuffle);
  EXPECT_EQ(parsed.config.strict, true);
}

TEST(Options, LeaveTheDefaultsAlone) {
  const Parsed parsed = parse({});
  EXPECT_EQ(parsed.config.task, "copy");
  EXPECT_FALSE(parsed.config.lengths.has_value());
  EXPECT_TRUE(parsed.config.shuffle);
  EXPECT_FALSE(parsed.config.strict.has_value());
}

TEST(Options, LastOneCounts) {
  const Parsed parsed = parse({"--count", "1", "--dedup", "--count", "2", "--no-dedup", "--no-strict", "--strict"});
  EXPECT_EQ(parsed.error, "");
  EXPECT_EQ(parsed.config.count, 2);
  EXPECT_FALSE(parsed.config.dedup);
  EXPECT_EQ(parsed.config.strict, true);
}

TEST(Options, ErrorsNameTheOption) {
  EXPECT_EQ(parse({"--train-lengths", "x"}).error,
            "--train-lengths: 'x' is not a range of lengths; write LOW:HIGH, for example 1:8");
  EXPECT_EQ(parse({"--count", "many"}).error, "--count: 'many' is not a whole number");
  EXPECT_NE(parse({"--dedup=perhaps"}).error, "") << "a switch takes no value";
}

TEST(Options, HelpShowsNamesAndDefaults) {
  const std::string help = parse({}).help;
  for (const char* part : {"--task TEXT", "what to learn [copy]", "--train-lengths LOW:HIGH", "how many [7]",
                           "--dedup, --no-dedup", "mix the order [on]", "--config FILE"}) {
    EXPECT_NE(help.find(part), std::string::npos) << part << " is not in\n" << help;
  }
  EXPECT_EQ(help.find("{false}"), std::string::npos) << help;
}

TEST(ConfigFile, OptionsOverrideItWhereverItStands) {
  const TemporaryFolder folder;
  write_file(folder / "c.toml", "task = \"sort\"\ncount = 100\ndedup = true\nshuffle = false\n");
  const std::string file = (folder / "c.toml").string();
  for (const bool file_option_first : {false, true}) {
    for (const auto& arguments : {std::vector<std::string>{"--config", file, "--count", "5", "--no-dedup"},
                                  std::vector<std::string>{"--count", "5", "--no-dedup", "--config", file}}) {
      const Parsed parsed = parse(arguments, file_option_first);
      EXPECT_EQ(parsed.error, "");
      EXPECT_EQ(parsed.config.task, "sort");
      EXPECT_EQ(parsed.config.count, 5);
      EXPECT_FALSE(parsed.config.dedup);
      EXPECT_FALSE(parsed.config.shuffle);
    }
  }
}

TEST(ConfigFile, SecondFileOverridesTheFirst) {
  const TemporaryFolder folder;
  write_file(folder / "a.toml", "task = \"sort\"\ncount = 1\n");
  write_file(folder / "b.toml", "count = 2\n");
  const Parsed parsed = parse({"--config", (folder / "a.toml").string(), "--config", (folder / "b.toml").string()});
  EXPECT_EQ(parsed.error, "");
  EXPECT_EQ(parsed.config.task, "sort");
  EXPECT_EQ(parsed.config.count, 2);
}

TEST(ConfigFile, ErrorsNameTheFile) {
  const TemporaryFolder folder;
  write_file(folder / "c.toml", "taks = \"sort\"\n");
  const std::string file = (folder / "c.toml").string();
  EXPECT_EQ(parse({"--config", file}).error, file + ": there is no option 'taks'; did you mean 'task'?");
  EXPECT_EQ(parse({"--config", (folder / "d.toml").string()}).error,
            "cannot read " + (folder / "d.toml").string() + ": No such file or directory");
}

}  // namespace
}  // namespace lengthwise
