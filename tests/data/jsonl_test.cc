#include "data/jsonl.h"

#include <gtest/gtest.h>

#include "tasks/task.h"
#include "tests/data/temporary_folder.h"

namespace lengthwise {
namespace {

Example parse(std::string_view line) {
  Example example;
  parse_jsonl_line(line, example);
  return example;
}

TEST(Jsonl, ReadsALine) {
  const Example example = parse(R"({"prompt":"a  b\t?","target":" c. ","length":12,"category":"3-by-4"})");
  EXPECT_EQ(example.prompt, "a b ?");
  EXPECT_EQ(example.target, "c.");
  EXPECT_EQ(example.length, 12);
  EXPECT_EQ(example.category, "3-by-4");
}

TEST(Jsonl, TheCategoryIsTheLengthWhereNoneIsGiven) {
  EXPECT_EQ(parse(R"({"prompt":"a","target":"b","length":7})").category, "7");
  EXPECT_EQ(parse(R"({"prompt":"a","target":"b","length":7,"category":" "})").category, "7");
}

TEST(Jsonl, IgnoresOtherKeysWhateverTheyHold) {
  const Example example = parse(
      R"({"id":1.5,"more":{"prompt":"no","length":[{"target":null}]},"length":1,"x":[true],"target":"b","prompt":"a"} )");
  EXPECT_EQ(example.prompt, "a");
  EXPECT_EQ(example.target, "b");
  EXPECT_EQ(example.length, 1);
}

TEST(Jsonl, TakesEscapesAndCarriageReturns) {
  EXPECT_EQ(parse("{\"prompt\":\"\\u00e9\\n\\u20ac\",\"target\":\"\\ud83d\\udc0d\",\"length\":1}\r").prompt,
            "\xC3\xA9 \xE2\x82\xAC");
}

TEST(Jsonl, ForgetsTheLineBefore) {
  Example example = parse(R"({"prompt":"a b","target":"c d","length":9,"category":"z"})");
  parse_jsonl_line(R"({"prompt":"e","target":"f","length":1})", example);
  EXPECT_EQ(example.prompt, "e");
  EXPECT_EQ(example.target, "f");
  EXPECT_EQ(example.category, "1");
}

TEST(Jsonl, RefusesBadLinesWithTheReason) {
  const std::vector<std::pair<std::string, std::string>> cases{
      {"", "the line is empty"},
      {"  \t", "the line is empty"},
      {"{", "not valid JSON at column 2"},
      {"{}", "'prompt' is missing"},
      {R"({"prompt":"a"})", "'target' is missing"},
      {R"({"prompt":"a","target":"b"})", "'length' is missing"},
      {R"({"target":"b","length":1})", "'prompt' is missing"},
      {R"({"prompt":"a","target":"b","length":1}x)", "not valid JSON at column 39"},
      {R"({"prompt":"a","target":"b","length":1}{})", "not valid JSON at column 39"},
      {R"({'prompt':"a"})", "not valid JSON at column 2"},
      {R"({"prompt":"a","target":"b","length":1,})", "not valid JSON at column 39"},
      {R"({"prompt":"a","prompt":"b","target":"b","length":1})", "'prompt' is given twice"},
      {R"({"prompt":"","target":"b","length":1})", "'prompt' is empty"},
      {R"({"prompt":"a","target":" \n","length":1})", "'target' is empty"},
      {R"({"prompt":null,"target":"b","length":1})", "'prompt' must be a string, not null"},
      {R"({"prompt":["a"],"target":"b","length":1})", "'prompt' must be a string, not an array"},
      {R"({"prompt":"a","target":{"b":1},"length":1})", "'target' must be a string, not an object"},
      {R"({"prompt":"a","target":1,"length":1})", "'target' must be a string, not a number"},
      {R"({"prompt":"a","target":"b","length":"1"})", "'length' must be a whole number, not a string"},
      {R"({"prompt":"a","target":"b","length":1.0})",
       "'length' must be a whole number, not a fraction or too large a number"},
      {R"({"prompt":"a","target":"b","length":123456789012345678901234567890})",
       "'length' must be a whole number, not a fraction or too large a number"},
      {R"({"prompt":"a","target":"b","length":1e900})", "not valid JSON at column 41"},
      {R"({"prompt":"a","target":"b","length":true})", "'length' must be a whole number, not a truth value"},
      {R"({"prompt":"a","target":"b","length":0})", "'length' must lie between 1 and 1000000, not be 0"},
      {R"({"prompt":"a","target":"b","length":-3})", "'length' must lie between 1 and 1000000, not be -3"},
      {R"({"prompt":"a","target":"b","length":1000001})", "'length' must lie between 1 and 1000000, not be 1000001"},
      {R"({"prompt":"a","target":"b","length":18446744073709551615})",
       "'length' must lie between 1 and 1000000, not be 9223372036854775807"},
      {R"({"prompt":"a","target":"b","length":1,"category":3})", "'category' must be a string, not a number"},
      {R"([{"prompt":"a","target":"b","length":1}])",
       "a line must be an object with prompt, target and length, not an array"},
      {R"("text")", "a line must be an object with prompt, target and length, not a string"},
      {"17", "a line must be an object with prompt, target and length, not a number"},
      {"null", "a line must be an object with prompt, target and length, not null"},
      {"{\"prompt\":\"\xFF\",\"target\":\"b\",\"length\":1}", "not valid UTF-8 at column 12"},
      {"{\"prompt\":\"\\ud800\",\"target\":\"b\",\"length\":1}", "not valid JSON at column 18"},
      {"{\"prompt\":\"a\nb\",\"target\":\"b\",\"length\":1}", "not valid JSON at column 13"},
      {std::string("{\"prompt\":\"a\0\"}", 15), "not valid JSON at column 13"},
      {"\xEF\xBB\xBF{}", "the line begins with a byte-order mark; save the file without one"},
      {std::string(kLongestJsonlLine + 1, ' '), "the line is longer than 1048576 bytes"},
      {std::string(500'000, '['), "a line must be an object with prompt, target and length, not an array"},
      {"{\"x\":" + std::string(500'000, '['), "not valid JSON at column 500006"},
  };
  for (const auto& [line, reason] : cases) {
    EXPECT_EQ(mistake_of([&, &text = line] { parse(text); }), reason) << line.substr(0, 100);
  }
}

TEST(Jsonl, WritesALine) {
  std::string line;
  append_jsonl(line, {"a \"b\" ?", "c.", 12, "3-by-4"});
  EXPECT_EQ(line, "{\"prompt\":\"a \\\"b\\\" ?\",\"target\":\"c.\",\"length\":12,\"category\":\"3-by-4\"}\n");
  line.pop_back();
  EXPECT_EQ(parse(line).prompt, "a \"b\" ?");
}

std::vector<Example> read_all(const std::filesystem::path& path) {
  std::vector<Example> examples;
  read_jsonl(path, [&](const Example& example) { examples.push_back(example); });
  return examples;
}

TEST(JsonlFile, ReadsLinesWithAndWithoutALastLineFeed) {
  const TemporaryFolder folder;
  const std::string line = R"({"prompt":"a","target":"b","length":2})";
  folder.write("one", line + "\n" + line + "\n");
  folder.write("two", line + "\n" + line);
  folder.write("none", "");
  EXPECT_EQ(read_all(folder / "one").size(), 2u);
  EXPECT_EQ(read_all(folder / "two").size(), 2u);
  EXPECT_EQ(read_all(folder / "none").size(), 0u);
}

TEST(JsonlFile, MayEndInEmptyLines) {
  const TemporaryFolder folder;
  const std::string line = R"({"prompt":"a","target":"b","length":2})";
  folder.write("one", line + "\n\n");
  folder.write("more", line + "\n\n \r\n\t");
  folder.write("only", "\n\n");
  folder.write("middle", line + "\n" + line + "\n\n\n" + line + "\n");
  EXPECT_EQ(read_all(folder / "one").size(), 1u);
  EXPECT_EQ(read_all(folder / "more").size(), 1u);
  EXPECT_EQ(read_all(folder / "only").size(), 0u);
  EXPECT_EQ(mistake_of([&] { read_all(folder / "middle"); }),
            (folder / "middle").string() + ":3: the line is empty; only the end of a file may have empty lines");
}

TEST(Jsonl, SuggestsTheKeyThatWasMeant) {
  EXPECT_EQ(mistake_of([] { parse(R"({"promt":"a","target":"b","length":1})"); }),
            "'prompt' is missing, and there is a key 'promt'; did you mean 'prompt'?");
  EXPECT_EQ(mistake_of([] { parse(R"({"id":7,"prompt":"a","Target":"b","length":1})"); }),
            "'target' is missing, and there is a key 'Target'; did you mean 'target'?");
  EXPECT_EQ(mistake_of([] { parse(R"({"id":7,"target":"b","length":1})"); }), "'prompt' is missing");
  EXPECT_EQ(mistake_of([] { parse(R"({"x":{"promt":1},"target":"b","length":1})"); }), "'prompt' is missing");
  EXPECT_EQ(parse(R"({"prompt":"a","promt":"x","target":"b","length":1})").prompt, "a");
}

TEST(JsonlFile, ReadsLinesThatCrossItsBlocks) {
  const TemporaryFolder folder;
  std::string text;
  for (int i = 1; i <= 4000; ++i) {
    append_jsonl(text, {std::string(static_cast<size_t>(i % 700 + 1), 'x'), std::to_string(i), i, std::to_string(i)});
  }
  append_jsonl(text, {std::string(900'000, 'y'), "z", 1, "1"});
  folder.write("file", text);
  const std::vector<Example> examples = read_all(folder / "file");
  ASSERT_EQ(examples.size(), 4001u);
  for (int i = 1; i <= 4000; ++i) {
    EXPECT_EQ(examples[static_cast<size_t>(i) - 1].target, std::to_string(i));
    EXPECT_EQ(examples[static_cast<size_t>(i) - 1].prompt.size(), static_cast<size_t>(i % 700 + 1));
  }
  EXPECT_EQ(examples.back().prompt.size(), 900'000u);
}

TEST(JsonlFile, NamesTheFirstBadLine) {
  const TemporaryFolder folder;
  const std::string line = R"({"prompt":"a","target":"b","length":2})";
  folder.write("bad", line + "\n" + line + "\n{\"prompt\":\"a\"}\n[]\n");
  EXPECT_EQ(mistake_of([&] { read_all(folder / "bad"); }), (folder / "bad").string() + ":3: 'target' is missing");
  folder.write("gap", line + "\n\n" + line + "\n");
  EXPECT_EQ(mistake_of([&] { read_all(folder / "gap"); }),
            (folder / "gap").string() + ":2: the line is empty; only the end of a file may have empty lines");
  folder.write("long", line + "\n" + std::string(3'000'000, 'x'));
  EXPECT_EQ(mistake_of([&] { read_all(folder / "long"); }),
            (folder / "long").string() + ":2: the line is longer than 1048576 bytes");
}

TEST(JsonlFile, NamesAFileItCannotRead) {
  const TemporaryFolder folder;
  EXPECT_NE(mistake_of([&] { read_all(folder / "none"); }).find((folder / "none").string()), std::string::npos);
  EXPECT_NE(mistake_of([&] { read_all(folder.path()); }), "");
}

}  // namespace
}  // namespace lengthwise
