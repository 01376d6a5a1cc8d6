#include "core/text.h"

#include <gtest/gtest.h>

namespace lengthwise {
namespace {

std::vector<std::string> texts(std::string_view text) {
  std::vector<std::string> result;
  for (const Piece& piece : split_pieces(text)) result.emplace_back(piece.text);
  return result;
}

using Strings = std::vector<std::string>;

TEST(Pieces, AreWordsMarkersAndSymbols) {
  EXPECT_EQ(texts("Compute: 5 3+1 ?"), (Strings{"Compute", ":", "5", "3", "+", "1", "?"}));
  EXPECT_EQ(texts("2 * x ** 3"), (Strings{"2", "*", "x", "**", "3"}));
  EXPECT_EQ(texts("8 .[SEP] a[NEXT]b [ 1, 0 ]"),
            (Strings{"8", ".", "[SEP]", "a", "[NEXT]", "b", "[", "1", ",", "0", "]"}));
  EXPECT_EQ(texts("TURN_LEFT na\xc3\xafve"), (Strings{"TURN_LEFT", "na\xc3\xafve"}));
  EXPECT_TRUE(texts(" \t\r\n ").empty());
}

TEST(Pieces, GenitiveIsOneSymbolOnlyAtTheEndOfAWord) {
  EXPECT_EQ(texts("1's even"), (Strings{"1", "'s", "even"}));
  EXPECT_EQ(texts("'sun"), (Strings{"'", "sun"}));
}

TEST(Pieces, KnowWhatStoodBeforeThem) {
  const auto pieces = split_pieces("in 5, 7");
  ASSERT_EQ(pieces.size(), 4u);
  EXPECT_FALSE(pieces[0].glued);
  EXPECT_FALSE(pieces[1].glued);
  EXPECT_TRUE(pieces[2].glued);
  EXPECT_FALSE(pieces[3].glued);
  EXPECT_TRUE(pieces[1].is_word);
  EXPECT_FALSE(pieces[2].is_word);
}

TEST(Pieces, CoverEveryByte) {
  std::string all;
  for (int byte = 1; byte < 256; ++byte) all += static_cast<char>(byte);
  size_t covered = 0;
  for (const Piece& piece : split_pieces(all)) covered += piece.text.size();
  size_t spaces = 0;
  for (const char c : all) spaces += is_space(c) ? 1 : 0;
  EXPECT_EQ(covered + spaces, all.size());
}

TEST(Text, SplitsTrimsJoinsAndCollapses) {
  EXPECT_EQ(split_words("  a  bc\td\n"), (std::vector<std::string_view>{"a", "bc", "d"}));
  EXPECT_TRUE(split_words("   ").empty());
  EXPECT_EQ(trim(" \n a b \t"), "a b");
  EXPECT_EQ(trim("  "), "");
  EXPECT_EQ(join({"a", "b", "c"}, ", "), "a, b, c");
  EXPECT_EQ(join({}, ", "), "");
  EXPECT_EQ(collapse_spaces("  a \t b\nc "), "a b c");
}

TEST(NearestName, ForgivesAFewKeys) {
  const Strings tasks{"copy", "reverse", "sort", "sort-digits", "addition", "summation"};
  EXPECT_EQ(nearest_name("sortt", tasks), "sort");
  EXPECT_EQ(nearest_name("sotr", tasks), "sort");
  EXPECT_EQ(nearest_name("adition", tasks), "addition");
  EXPECT_EQ(nearest_name("reverse", tasks), "reverse");
  EXPECT_EQ(nearest_name("summ", tasks), "summation") << "the beginning of a name";
  EXPECT_EQ(nearest_name("reversed-letters", tasks), "reverse") << "a name, and more";
  EXPECT_EQ(did_you_mean("cpoy", tasks), "; did you mean 'copy'?");
}

TEST(NearestName, StaysSilentWhenNothingIsNear) {
  const Strings tasks{"copy", "reverse"};
  EXPECT_EQ(nearest_name("banana", tasks), "");
  EXPECT_EQ(nearest_name("", tasks), "");
  EXPECT_EQ(nearest_name("copy", {}), "");
  EXPECT_EQ(nearest_name("c", {":", "a"}), "") << "nothing in common";
  EXPECT_EQ(nearest_name(std::string(100'000, 'c'), tasks), "");
  EXPECT_EQ(did_you_mean("banana", tasks), "");
}

TEST(Excerpt, CutsLongTextBetweenCharacters) {
  EXPECT_EQ(excerpt("short"), "short");
  EXPECT_EQ(excerpt("abcdef", 3), "abc...");
  EXPECT_EQ(excerpt("ab\xc3\xa9z", 3), "ab...") << "the two bytes of an e with an accent stay together";
}

}  // namespace
}  // namespace lengthwise
