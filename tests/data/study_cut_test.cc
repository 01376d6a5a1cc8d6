#include "data/study_cut.h"

#include <gtest/gtest.h>

#include "core/text.h"
#include "data/data_set.h"
#include "tasks/registry.h"

namespace lengthwise {
namespace {

/// The tokens of a chunk with bars between them and `_` for a space that is a token.
std::string cut(std::string_view chunk) {
  std::vector<std::string_view> parts;
  study_cut(chunk, parts);
  std::vector<std::string> texts;
  for (const std::string_view part : parts) texts.emplace_back(part.empty() ? "_" : part);
  return join(texts, "|");
}

/// What the T5 tokenizer makes of these words, one of each kind that occurs in the study's wordings.
TEST(StudyCut, CutsAsTheTokenizerDoes) {
  const std::pair<std::string_view, std::string_view> expected[] = {
      {"0", "_|0"},
      {"0,", "0,"},
      {"0.", "0."},
      {"7", "7"},
      {"7,", "7,"},
      {"7.", "7."},
      {"12", "12"},
      {"M", "M"},
      {"M,", "M|,"},
      {"red,", "red|,"},
      {"a", "_|a"},
      {"a,", "_|a|,"},
      {"a.", "_|a|."},
      {"a?", "_|a|?"},
      {"x", "_|x"},
      {"+", "+"},
      {"-", "_|-"},
      {"*", "*"},
      {"**", "**"},
      {"=", "="},
      {"#", "#"},
      {"?", "_|?"},
      {".", "_|."},
      {",", "_|,"},
      {"[", "["},
      {"]", "_|]"},
      {"].", "_|]."},
      {"+1", "_|+1"},
      {"-1,", "_|-1|,"},
      {"+1.", "_|+1|."},
      {"1's", "1|'|s"},
      {"[SEP]", "[|S|EP|]"},
      {"[NEXT]", "[|NE|X|T|]"},
      {"jump[SEP]", "jump|[|S|EP|]"},
      {".[SEP]", "_|.|[|S|EP|]"},
      {"Compute", "Comp|ute"},
      {"Compute:", "Comp|ute|:"},
      {"Copy:", "Copy|:"},
      {"Evaluate", "Eva|luate"},
      {"Is", "I|s"},
      {"No.", "No|."},
      {"Reverse:", "Re|verse|:"},
      {"Solve:", "Sol|ve|:"},
      {"Then,", "The|n|,"},
      {"Thus,", "Thus|,"},
      {"append", "app|end"},
      {"carry:", "carry|:"},
      {"prepend", "prep|end"},
      {"re", "_|re"},
      {"remove_first", "remove|_|first"},
      {"remove_second", "remove|_|second"},
      {"sorted", "_|sorted"},
      {"swap_first_last", "swap|_|first|_|last"},
      {"thrice", "_|th|rice"},
      {"thrice[SEP]", "_|th|rice|[|S|EP|]"},
      {"unsorted", "un|sorted"},
  };
  for (const auto& [chunk, tokens] : expected) EXPECT_EQ(cut(chunk), tokens);
}

struct Lengths {
  std::string task;
  int64_t length;
  int64_t prompt;  ///< tokens; 0: not known
  int64_t total;   ///< with the end marker
};

/// Token counts that the study logged, n being the length: prompts and whole sequences.
TEST(StudyCut, GivesTheLoggedLengths) {
  for (const int64_t n : {2, 7, 20}) {
    const Lengths logged[] = {
        {"copy", n, n + 6, 2 * n + 7},          {"copy-rsc", n, n + 6, 2 * n + 7},
        {"copy-rdc", n, n + 9, 2 * n + 10},     {"copy-cmc2x", n, n + 6, 3 * n + 12},
        {"copy-rsc2x", n, n + 6, 3 * n + 7},    {"reverse", n, n + 7, 2 * n + 8},
        {"reverse-mc2x", n, n + 7, 3 * n + 13}, {"reverse-mcrv", n, n + 7, 3 * n + 13},
    };
    for (const Lengths& row : logged) {
      DataConfig config;
      config.task = row.task;
      config.wording = Wording::released;
      config.train_lengths = LengthRange{n, n};
      config.train_count = 5;
      config.validation_count = 1;
      config.test_count = 20;
      const DataSet data = build_data_set(config, 1);
      ASSERT_EQ(data.train.size(), 5);
      for (int64_t i = 0; i < data.train.size(); ++i) {
        EXPECT_EQ(static_cast<int64_t>(data.train.prompt(i).size()), row.prompt) << row.task;
        EXPECT_EQ(static_cast<int64_t>(data.train.sequence(i).size()), row.total) << row.task;
      }
    }
  }
}

/// The longest training sequence of SCAN has 45 tokens in the study's logs.
TEST(StudyCut, GivesTheLoggedLengthOfScan) {
  DataConfig config;
  config.task = "scan";
  config.wording = Wording::released;
  const DataSet data = build_data_set(config, 1);
  size_t longest = 0;
  for (int64_t i = 0; i < data.train.size(); ++i) longest = std::max(longest, data.train.sequence(i).size());
  EXPECT_EQ(longest, 45u);
}

/// Whoever counts tokens cannot tell how many items of a list have gone by.
TEST(StudyCut, ItemsOfAListHaveDifferentLengths) {
  EXPECT_EQ(cut("3,"), "3,");
  EXPECT_EQ(cut("M,"), "M|,");
}

}  // namespace
}  // namespace lengthwise
