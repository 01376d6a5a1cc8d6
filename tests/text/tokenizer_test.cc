#include "text/tokenizer.h"

#include <gtest/gtest.h>

#include "core/rng.h"
#include "tests/core/mistake.h"
#include "tests/core/temporary_folder.h"
#include "text/train_tokenizer.h"

namespace lengthwise {
namespace {

std::string spoken(const Tokenizer& tokenizer, const std::vector<TextToken>& tokens) {
  std::string text;
  for (const TextToken token : tokens)
    text += spoken_text(tokenizer.texts()[static_cast<size_t>(token - kTextSpecials)]);
  return text;
}

TEST(Tokenizer, BytesNameThemselves) {
  EXPECT_EQ(byte_name(0xE9), "<0xE9>");
  for (int byte = 0; byte < 256; ++byte) EXPECT_EQ(byte_named(byte_name(static_cast<unsigned char>(byte))), byte);
  for (const char* text : {"", "a", "<0xE9", "<0xe9>", "<0xG9>", "x0xE9>", "<0xE9>>"}) EXPECT_EQ(byte_named(text), -1);
  EXPECT_EQ(spoken_text("\u2581the\u2581end"), " the end");
  const std::unique_ptr<Tokenizer> bytes = make_tokenizer("bytes");
  EXPECT_EQ(bytes->texts().size(), 256u);
  EXPECT_EQ(bytes->texts()[' '], " ");
  EXPECT_EQ(bytes->texts()['\n'], "<0x0A>");
  std::vector<TextToken> tokens;
  bytes->encode("Za \n\u00e9", tokens);
  EXPECT_EQ(tokens, (std::vector<TextToken>{3 + 'Z', 3 + 'a', 3 + ' ', 3 + '\n', 3 + 0xC3, 3 + 0xA9}));
}

TEST(Tokenizer, WrongNamesAreRefused) {
  EXPECT_NE(mistake_of([] { make_tokenizer("byte"); }).find("did you mean 'bytes'?"), std::string::npos);
  const TemporaryFolder folder;
  folder.write("a.model", "no model");
  const std::string mistake = mistake_of([&] { make_tokenizer((folder / "a.model").string()); });
  EXPECT_NE(mistake.find(has_sentencepiece() ? "is no SentencePiece model" : "without SentencePiece"),
            std::string::npos);
}

class Subwords : public testing::Test {
 protected:
  void SetUp() override {
    if (!has_sentencepiece()) GTEST_SKIP() << "built without SentencePiece";
    Rng rng(7);
    std::vector<std::string> words = {"the", "white", "whale", "captain"};
    while (words.size() < 200) {
      std::string& word = words.emplace_back();
      for (int64_t left = rng.between(3, 8); left > 0; --left) word += static_cast<char>('a' + rng.between(0, 25));
    }
    std::string text;
    for (int line = 0; line < 2000; ++line) {
      for (int word = 0; word < 8; ++word) text += words[static_cast<size_t>(rng.between(0, 199))] + " ";
      text += "the white whale and the captain\n";
    }
    folder_.write("a.txt", text);
  }
  void make(int64_t size, const std::string& name) {
    Progress quiet(Progress::Mode::quiet);
    train_tokenizer({folder_ / "a.txt"}, {.size = size, .lines = 1000}, folder_ / name, quiet);
  }

  TemporaryFolder folder_;
};

TEST_F(Subwords, GiveEveryTextBackAsItWas) {
  make(500, "a.model");
  const std::unique_ptr<Tokenizer> tokenizer = make_tokenizer((folder_ / "a.model").string());
  EXPECT_EQ(tokenizer->kind(), "sentencepiece");
  EXPECT_EQ(tokenizer->texts().size(), 500u);
  for (const std::string text :
       {"the white whale and the sea\n", "  two  spaces\tand a tab ", "\n", "\u00e9\u4e2d \U0001F433 unseen\r\n"}) {
    std::vector<TextToken> tokens;
    tokenizer->encode(text, tokens);
    EXPECT_EQ(spoken(*tokenizer, tokens), text);
  }
  std::vector<TextToken> tokens;
  tokenizer->encode("the white whale and the captain", tokens);
  EXPECT_LT(tokens.size(), 16u) << "words it was made from are cut into letters";
}

TEST_F(Subwords, AreMadeAlikeEveryTime) {
  make(500, "a.model");
  make(500, "b.model");
  EXPECT_EQ(read_file(folder_ / "a.model"), read_file(folder_ / "b.model"));
}

TEST_F(Subwords, OfAnImpossibleSizeAreRefused) {
  EXPECT_NE(mistake_of([&] { make(65536, "a.model"); }).find("--size must be between 300 and 65533, not 65536"),
            std::string::npos);
  EXPECT_NE(mistake_of([&] { make(30000, "a.model"); }).find("SentencePiece made no vocabulary"), std::string::npos);
  folder_.write("a.model", "");
  EXPECT_NE(mistake_of([&] { make(500, "a.model"); }).find("exists already"), std::string::npos);
}

}  // namespace
}  // namespace lengthwise
