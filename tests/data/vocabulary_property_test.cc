#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "core/text.h"
#include "data/json_string.h"
#include "data/vocabulary.h"

namespace lengthwise {
namespace {

/// Texts that are dense in what matters: spaces, symbols, pairs that form one symbol, and characters beyond ASCII.
rc::Gen<std::string> text_of_pieces() {
  static const std::vector<std::string> parts{" ",
                                              " ",
                                              "\t",
                                              "a",
                                              "B7",
                                              "_",
                                              "0",
                                              ".",
                                              ",",
                                              "*",
                                              "**",
                                              "'",
                                              "'s",
                                              "s",
                                              "[",
                                              "]",
                                              "[SEP]",
                                              "[NEXT]",
                                              "(",
                                              "-",
                                              "+1",
                                              "Is",
                                              "sorted",
                                              "\"",
                                              "\\",
                                              "<eos>",
                                              "\xC3\xA9",
                                              "\xE2\x82\xAC",
                                              "\xF0\x9F\x90\x8D",
                                              "\x01"};
  return rc::gen::map(rc::gen::container<std::vector<std::string>>(rc::gen::elementOf(parts)),
                      [](const std::vector<std::string>& chosen) { return join(chosen, ""); });
}

rc::Gen<Cut> any_cut() {
  return rc::gen::element(Cut::pieces, Cut::study);
}

/// The definition of the tokens of a text, piece by piece.
std::vector<Token> tokens_by_definition(std::string_view text) {
  const std::vector<Piece> pieces = split_pieces(text);
  std::vector<Token> tokens;
  for (size_t i = 0; i < pieces.size(); ++i) {
    Token token{std::string(pieces[i].text), false, false};
    if (!pieces[i].is_word) {
      token.glue_left = pieces[i].glued;
      token.glue_right = i + 1 < pieces.size() && pieces[i + 1].glued && pieces[i + 1].is_word;
    }
    tokens.push_back(token);
  }
  return tokens;
}

TEST(VocabularyProperty, DecodingGivesTheCollapsedTextBack) {
  EXPECT_TRUE(rc::check([] {
    const std::string text = *text_of_pieces();
    Vocabulary vocabulary(*any_cut());
    vocabulary.add(text);
    RC_ASSERT(vocabulary.decode(vocabulary.encode(text)) == collapse_spaces(text));
  }));
}

TEST(VocabularyProperty, EncodesAsDefined) {
  EXPECT_TRUE(rc::check([] {
    const std::string text = *text_of_pieces();
    Vocabulary vocabulary;
    vocabulary.add(text);
    std::vector<Token> tokens;
    for (const int32_t id : vocabulary.encode(text)) tokens.push_back(vocabulary.token(id));
    RC_ASSERT(tokens == tokens_by_definition(text));
  }));
}

TEST(VocabularyProperty, TakesAnyBytes) {
  EXPECT_TRUE(rc::check([](const std::string& text) {
    Vocabulary vocabulary(*any_cut());
    vocabulary.add(text);
    RC_ASSERT(vocabulary.decode(vocabulary.encode(text)) == collapse_spaces(text));
  }));
}

TEST(VocabularyProperty, FileGivesTheVocabularyBack) {
  EXPECT_TRUE(rc::check([] {
    Vocabulary vocabulary(*any_cut());
    for (const std::string& text : *rc::gen::container<std::vector<std::string>>(text_of_pieces()))
      vocabulary.add(text);
    RC_ASSERT(Vocabulary::from_json(vocabulary.to_json(), "test") == vocabulary);
  }));
}

TEST(VocabularyProperty, OtherTextsEncodeOrAreRefused) {
  EXPECT_TRUE(rc::check([] {
    Vocabulary vocabulary(*any_cut());
    vocabulary.add(*text_of_pieces());
    const std::string other = *text_of_pieces();
    try {
      RC_ASSERT(vocabulary.decode(vocabulary.encode(other)) == collapse_spaces(other));
    } catch (const std::runtime_error& error) {
      const std::string reason = error.what();
      RC_ASSERT(reason.find("not in the vocabulary") != std::string::npos || reason.find("must") != std::string::npos);
      RC_ASSERT(find_invalid_utf8(reason) == std::string::npos);
    }
  }));
}

}  // namespace
}  // namespace lengthwise
