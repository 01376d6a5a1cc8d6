#include "data/vocabulary.h"

#include <gtest/gtest.h>

#include "core/text.h"
#include "tasks/registry.h"
#include "tests/data/temporary_folder.h"

namespace lengthwise {
namespace {

Vocabulary vocabulary_of(std::initializer_list<std::string_view> texts) {
  Vocabulary vocabulary;
  for (const std::string_view text : texts) vocabulary.add(text);
  return vocabulary;
}

TEST(Vocabulary, StartsWithTheSpecials) {
  const Vocabulary vocabulary;
  ASSERT_EQ(vocabulary.size(), 3);
  EXPECT_EQ(vocabulary.token(Vocabulary::kEos).text, "<eos>");
  EXPECT_EQ(vocabulary.token(Vocabulary::kBos).text, "<bos>");
  EXPECT_EQ(vocabulary.token(Vocabulary::kSep).text, "<sep>");
}

TEST(Vocabulary, NumbersPiecesByFirstAppearance) {
  const Vocabulary vocabulary = vocabulary_of({"one two, one", "two , three.[SEP]"});
  EXPECT_EQ(vocabulary.encode("one two, , three.[SEP]"), (std::vector<int32_t>{3, 4, 5, 6, 7, 8, 9}));
  EXPECT_EQ(vocabulary.token(5), (Token{",", true, false}));
  EXPECT_EQ(vocabulary.token(6), (Token{",", false, false}));
  EXPECT_EQ(vocabulary.token(9), (Token{"[SEP]", true, false}));
}

TEST(Vocabulary, TokensOfTheStudyAreGluedToWhatBeginsTheirChunk) {
  Vocabulary vocabulary(Cut::study);
  vocabulary.add("0 3, M, Is ].");
  const std::vector<int32_t> ids = vocabulary.encode("3, M, 0 Is ].");
  const std::vector<Token> expected{{"3,"},
                                    {"M"},
                                    {",", true, false},
                                    {""},
                                    {"0", true, false},
                                    {"I"},
                                    {"s", true, false},
                                    {""},
                                    {"].", true, false}};
  ASSERT_EQ(ids.size(), expected.size());
  for (size_t i = 0; i < ids.size(); ++i) EXPECT_EQ(vocabulary.token(ids[i]), expected[i]) << i;
  EXPECT_EQ(ids[3], ids[7]);
  EXPECT_EQ(vocabulary.decode(ids), "3, M, 0 Is ].");
  EXPECT_EQ(vocabulary.decode(std::span(ids).subspan(3)), "0 Is ].");
  EXPECT_EQ(Vocabulary::from_json(vocabulary.to_json(), "here"), vocabulary);
  EXPECT_EQ(mistake_of([&] { vocabulary.encode("M 4,"); }), "the symbol '4,' in \"M 4,\" is not in the vocabulary");
}

TEST(Vocabulary, TheSymbolOnTheRightOfAPlaceTakesTheGlue) {
  const Vocabulary vocabulary = vocabulary_of({"(a) -b c-d"});
  const std::vector<int32_t> ids = vocabulary.encode("(a) -b c-d");
  const std::vector<Token> expected{{"(", false, true}, {"a"}, {")", true, false}, {"-", false, true}, {"b"}, {"c"},
                                    {"-", true, true},  {"d"}};
  ASSERT_EQ(ids.size(), expected.size());
  for (size_t i = 0; i < ids.size(); ++i) EXPECT_EQ(vocabulary.token(ids[i]), expected[i]) << i;
}

TEST(Vocabulary, DecodingGivesTheTextBack) {
  for (const std::string text :
       {"", "a", "a b", "x ** 3 + - 3", "1's even in [ 1, 0 ] ?", "x***y", "[SEP][SEP] [NEXT]", "_ __ a_b",
        "caf\xC3\xA9 \xE2\x82\xAC.", "''s 's' 'sun", "<eos> <bos>", "([{}])", "\x01\x7F"}) {
    Vocabulary vocabulary;
    vocabulary.add(text);
    EXPECT_EQ(vocabulary.decode(vocabulary.encode(text)), text);
  }
}

TEST(Vocabulary, WhiteSpaceOnlySeparates) {
  const Vocabulary vocabulary = vocabulary_of({"a b."});
  EXPECT_EQ(vocabulary.encode(" a \t\r\n\v\f b. "), vocabulary.encode("a b."));
  // The inner loop has a test for white space of its own.
  for (int byte = 0; byte < 256; ++byte) {
    const auto c = static_cast<char>(byte);
    Vocabulary other;
    other.add(std::string("a") + c + "b");
    EXPECT_EQ(other.encode(std::string("a") + c + "b").size() == 2, is_space(c)) << byte;
  }
}

TEST(Vocabulary, DecodingLeavesSpecialsOut) {
  const Vocabulary vocabulary = vocabulary_of({"a b."});
  std::vector<int32_t> ids{Vocabulary::kBos};
  vocabulary.encode("a", ids);
  ids.push_back(Vocabulary::kSep);
  vocabulary.encode("b.", ids);
  ids.push_back(Vocabulary::kEos);
  EXPECT_EQ(vocabulary.decode(ids), "a b.");
  EXPECT_THROW(vocabulary.decode(std::vector<int32_t>{99}), std::logic_error);
  EXPECT_THROW(vocabulary.decode(std::vector<int32_t>{-1}), std::logic_error);
}

TEST(Vocabulary, TellsLengthyWordsApart) {
  Vocabulary vocabulary;
  const std::string stem(40, 'x');
  std::string text;
  for (int i = 0; i < 3000; ++i) text += fmt::format("{}{}{} {} ", stem, i, stem, i);
  vocabulary.add(text);
  EXPECT_EQ(vocabulary.size(), 3 + 6000);
  EXPECT_EQ(vocabulary.decode(vocabulary.encode(text)), trim(text));
}

TEST(Vocabulary, NamesAnUnknownWordItsPlaceAndTheNearestKnownOne) {
  const Vocabulary vocabulary = vocabulary_of({"Compute: 1 2 + ? The answer is 5."});
  EXPECT_EQ(mistake_of([&] { vocabulary.encode("Comptue: 1 + 2 ?"); }),
            "the word 'Comptue' in \"Comptue: 1 + 2 ?\" is not in the vocabulary; did you mean 'Compute'?");
  EXPECT_EQ(mistake_of([&] { vocabulary.encode("1 % 2"); }), "the symbol '%' in \"1 % 2\" is not in the vocabulary");
  const std::string far = mistake_of([&] {
    vocabulary.encode("1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 zebra 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2");
  });
  EXPECT_EQ(
      far,
      "the word 'zebra' in \"...1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 zebra 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2...\" is not in the "
      "vocabulary");
}

TEST(Vocabulary, SaysHowASymbolIsWritten) {
  const Vocabulary vocabulary = vocabulary_of({"is 1 2 ? The answer, is 5. -3 ( a"});
  EXPECT_EQ(mistake_of([&] { vocabulary.encode("is 2?"); }),
            "'?' in \"is 2?\" must stand apart, with a space before it");
  EXPECT_EQ(mistake_of([&] { vocabulary.encode("answer is 5 ."); }),
            "'.' in \"answer is 5 .\" must be written with no space before it");
  EXPECT_EQ(mistake_of([&] { vocabulary.encode("2 - 3"); }), "'-' in \"2 - 3\" must be written with no space after it");
  EXPECT_EQ(mistake_of([&] { vocabulary.encode("2-3"); }), "'-' in \"2-3\" must be written with a space before it");
  EXPECT_EQ(mistake_of([&] { vocabulary.encode("1(a"); }),
            "'(' in \"1(a\" must stand apart, with a space before it and a space after it");
}

TEST(Vocabulary, ComplainsOnOneLine) {
  const Vocabulary vocabulary = vocabulary_of({"a b ?"});
  EXPECT_EQ(mistake_of([&] { vocabulary.encode("a\n\x1b[31m b\x01"); }),
            "the symbol '\\u{1b}' in \"a \\u{1b}[31m b\\u{1}\" is not in the vocabulary");
}

TEST(Vocabulary, KeepsWhatCameBeforeAnUnknownWord) {
  const Vocabulary vocabulary = vocabulary_of({"a b"});
  std::vector<int32_t> ids{7};
  EXPECT_THROW(vocabulary.encode("a b c", ids), UserError);
  EXPECT_EQ(ids, (std::vector<int32_t>{7, 3, 4}));
}

TEST(Vocabulary, OfATaskIsItsLexicon) {
  for (const auto& task : tasks()) {
    for (const Wording wording : {Wording::printed, Wording::released}) {
      const Vocabulary vocabulary(*task, wording);
      Vocabulary other(cut_of(wording));
      for (const std::string& text : task->lexicon()) other.add(text);
      EXPECT_EQ(vocabulary, other);
      EXPECT_GT(vocabulary.size(), Vocabulary::kSpecials);
    }
  }
}

TEST(VocabularyFile, IsWrittenOneTokenALine) {
  EXPECT_EQ(vocabulary_of({"a. -\"b\" x-y"}).to_json(),
            "{\"format\":\"lengthwise-vocabulary\",\"version\":1,\"checksum\":\"crc32c:0747e5f7\",\"tokens\":[\n"
            "{\"text\":\"<eos>\"},\n{\"text\":\"<bos>\"},\n{\"text\":\"<sep>\"},\n"
            "{\"text\":\"a\"},\n{\"text\":\".\",\"glue\":\"left\"},\n{\"text\":\"-\"},\n"
            "{\"text\":\"\\\"\",\"glue\":\"both\"},\n{\"text\":\"b\"},\n{\"text\":\"\\\"\",\"glue\":\"left\"},\n"
            "{\"text\":\"x\"},\n{\"text\":\"-\",\"glue\":\"both\"},\n{\"text\":\"y\"}\n]}\n");
}

TEST(VocabularyFile, ReadsWhatItWrote) {
  const TemporaryFolder folder;
  for (const auto& task : tasks()) {
    for (const Wording wording : {Wording::printed, Wording::released}) {
      const Vocabulary vocabulary(*task, wording);
      vocabulary.save(folder / "vocabulary.json");
      EXPECT_EQ(Vocabulary::load(folder / "vocabulary.json"), vocabulary) << task->info().name;
    }
  }
}

std::string with_tokens(const std::string& tokens) {
  return R"({"format":"lengthwise-vocabulary","version":1,"tokens":[{"text":"<eos>"},{"text":"<bos>"},{"text":"<sep>"})" +
         tokens + "]}";
}

TEST(VocabularyFile, RefusesWhatIsNotAVocabulary) {
  const std::vector<std::pair<std::string, std::string>> cases{
      {"", "not valid JSON at byte 1"},
      {R"({"x":1e900})", "a number in it is too large"},
      {"[]", "not a vocabulary; \"format\" must be \"lengthwise-vocabulary\""},
      {R"({"format":"other"})", "not a vocabulary; \"format\" must be \"lengthwise-vocabulary\""},
      {R"({"format":"lengthwise-vocabulary"})", "not a version that is known here; \"version\" must be 1"},
      {R"({"format":"lengthwise-vocabulary","version":2,"tokens":[]})",
       "not a version that is known here; \"version\" must be 1"},
      {R"({"format":"lengthwise-vocabulary","version":1,"cut":"fine"})",
       "\"cut\" can only be \"study\", \"bytes\" or \"subwords\""},
      {R"({"format":"lengthwise-vocabulary","version":1})", "\"tokens\" must be an array"},
      {R"({"format":"lengthwise-vocabulary","version":1,"tokens":[]})", "the special '<eos>' is missing"},
      {R"({"format":"lengthwise-vocabulary","version":1,"tokens":[{"text":"<eos>"},{"text":"<bos>"}]})",
       "the special '<sep>' is missing"},
      {R"({"format":"lengthwise-vocabulary","version":1,"tokens":[{"text":"<bos>"}]})",
       "token 0 must be the special '<eos>', not '<bos>'"},
      {R"({"format":"lengthwise-vocabulary","version":1,"tokens":[{"text":"<eos>","glue":"left"}]})",
       "token 0 must be the special '<eos>', not '<eos>'"},
      {with_tokens(",3"), "token 3 must be an object such as {\"text\":\"word\"}"},
      {with_tokens(",{}"), "token 3 has no text"},
      {with_tokens(R"(,{"text":3})"), "token 3: text must be a string"},
      {with_tokens(R"(,{"text":"a","id":3})"), "token 3 has an unknown key 'id'; it takes text and glue"},
      {with_tokens(R"(,{"text":""})"), "token 3: '' is not one word or symbol"},
      {with_tokens(R"(,{"text":"a b"})"), "token 3: 'a b' is not one word or symbol"},
      {with_tokens(R"(,{"text":" a"})"), "token 3: ' a' is not one word or symbol"},
      {with_tokens(R"(,{"text":"<eos>"})"), "token 3: '<eos>' is not one word or symbol"},
      {with_tokens(R"(,{"text":"a"},{"text":"a"})"), "token 4: 'a' is token 3 already"},
      {with_tokens(R"(,{"text":".","glue":"left"},{"text":".","glue":"left"})"), "token 4: '.' is token 3 already"},
      {with_tokens(R"(,{"text":".","glue":"up"})"), "token 3: 'up' is no glue; there are left, right and both"},
      {with_tokens(R"(,{"text":".","glue":true})"), "token 3: glue must be a string"},
      {with_tokens(R"(,{"text":"a","glue":"left"})"), "token 3: the word 'a' cannot have glue"},
  };
  for (const auto& [json, reason] : cases) {
    EXPECT_EQ(mistake_of([&, &text = json] { Vocabulary::from_json(text, "v.json"); }), "v.json: " + reason) << json;
  }
}

TEST(VocabularyFile, EveryFlippedBitIsNoticedOrHarmless) {
  const Vocabulary vocabulary = vocabulary_of({"Sort 3, 1. It's x-y"});
  const std::string text = vocabulary.to_json();
  for (size_t bit = 0; bit < 8 * text.size(); ++bit) {
    std::string damaged = text;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << (bit % 8)));
    mistake_of([&] { EXPECT_EQ(Vocabulary::from_json(damaged, "v.json"), vocabulary) << damaged; });
  }
  // Without a checksum, as earlier versions wrote it, and in another layout.
  std::string plain = text;
  plain.erase(plain.find("\"checksum\""), std::string(R"("checksum":"crc32c:00000000",)").size());
  EXPECT_EQ(Vocabulary::from_json(plain, "v.json"), vocabulary);
  std::string spread;
  for (const char c : text) spread += c == '\n' ? std::string("\r\n  ") : std::string(1, c);
  EXPECT_EQ(Vocabulary::from_json(spread, "v.json"), vocabulary);
}

TEST(VocabularyFile, SurvivesDeepNesting) {
  const std::string deep = std::string(300'000, '[') + std::string(300'000, ']');
  EXPECT_NE(mistake_of([&] { Vocabulary::from_json(R"({"format":)" + deep + "}", "v.json"); }), "");
  EXPECT_NE(mistake_of([&] {
              Vocabulary::from_json(R"({"format":"lengthwise-vocabulary","version":)" + deep + "}", "v.json");
            }),
            "");
}

TEST(VocabularyFile, NamesAFileThatIsMissing) {
  EXPECT_NE(mistake_of([] { Vocabulary::load("/nowhere/vocabulary.json"); }).find("/nowhere/vocabulary.json"),
            std::string::npos);
}

}  // namespace
}  // namespace lengthwise
