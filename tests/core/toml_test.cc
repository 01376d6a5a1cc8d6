#include "core/toml.h"

#include <gtest/gtest.h>

#include "core/error.h"
#include "core/files.h"
#include "tests/core/temporary_folder.h"

namespace lengthwise {
namespace {

std::string mistake(const std::string& text) {
  try {
    parse_toml(text, "a.toml");
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

std::string repeated(const std::string& text, size_t times) {
  std::string all;
  for (size_t i = 0; i < times; ++i) all += text;
  return all;
}

TEST(ParseToml, ReadsTables) {
  const toml::table table = parse_toml("a = 1\n[b.c]\nd = \"x.y\" # [[[\n", "a.toml");
  EXPECT_EQ(table["a"].value<int64_t>(), 1);
  EXPECT_EQ(table["b"]["c"]["d"].value<std::string>(), "x.y");
}

TEST(ParseToml, NamesTheLine) {
  EXPECT_TRUE(mistake("a = 1\nb = = 2\n").starts_with("a.toml:2: ")) << mistake("a = 1\nb = = 2\n");
}

TEST(ParseToml, LimitsDepthAndParts) {
  EXPECT_EQ(mistake("\n" + repeated("a.", 30'000) + "a = 1"), "a.toml:2: a key has more than 50 parts");
  EXPECT_EQ(mistake("[" + repeated("a.", 30'000) + "a]"), "a.toml:1: a key has more than 50 parts");
  EXPECT_EQ(mistake("[[" + repeated("\"a\" . ", 30'000) + "a]]"), "a.toml:1: a key has more than 50 parts");
  EXPECT_EQ(mistake("a = " + repeated("[", 100'000)), "a.toml:1: nested more than 50 deep");
  EXPECT_EQ(mistake("a = " + repeated("{a=", 100'000)), "a.toml:1: nested more than 50 deep");
  EXPECT_EQ(mistake("a = " + repeated("[\n", 100'000)), "a.toml:51: nested more than 50 deep");
  EXPECT_EQ(mistake("a = " + repeated("[", 40) + repeated("]", 40)), "");
  EXPECT_EQ(mistake(repeated("a.", 40) + "a = 1"), "");
}

TEST(ParseToml, CountsNothingInStringsAndComments) {
  const std::string many = repeated("[.{", 1000);
  for (const std::string& text : {"a = \"" + many + "\"", "a = '" + many + "'", "a = \"\"\"\n" + many + "\n\"\"\"",
                                  "a = '''\n" + many + "'''", "# " + many, "a = \"\\\"" + many + "\"",
                                  "a = \"\"\"" + many + "\"\"\"\"\"", "a = ['" + many + "', \"" + many + "\"]"}) {
    EXPECT_EQ(mistake(text), "") << text.substr(0, 20);
  }
  // What follows a string is counted again.
  for (const std::string before : {"a = ''\n", "a = \"\"\n", "a = \"\"\"\"\"\"\n", "a = '\\'\n", "a = \"\\\\\"\n"}) {
    EXPECT_EQ(mistake(before + "b = " + repeated("[", 1000)), "a.toml:2: nested more than 50 deep") << before;
  }
}

TEST(ParseToml, CountsAgainAfterEveryValue) {
  EXPECT_EQ(mistake("a = [" + repeated("1.5, ", 1000) + "]"), "");
  std::string lines;
  for (int i = 0; i < 1000; ++i) lines += "a" + std::to_string(i) + ".b = 1.5\n";
  EXPECT_EQ(mistake(lines), "");
}

TEST(ReadTomlFile, RefusesFoldersAndLargeFiles) {
  const TemporaryFolder folder;
  EXPECT_THROW(read_toml_file(folder.path()), UserError) << "an empty configuration it is not";
  write_file(folder / "large.toml", std::string(static_cast<size_t>(kMostTomlBytes) + 1, '\n'));
  EXPECT_THROW(read_toml_file(folder / "large.toml"), UserError);
}

}  // namespace
}  // namespace lengthwise
