#include "text/prepare.h"

#include <gtest/gtest.h>

#include "core/json.h"
#include "tests/core/mistake.h"
#include "tests/core/temporary_folder.h"
#include "text/prepared_text.h"

namespace lengthwise {
namespace {

TextManifest prepare(const PrepareOptions& options, const std::filesystem::path& folder) {
  Progress quiet(Progress::Mode::quiet);
  return prepare_text(options, *make_byte_tokenizer(), folder, quiet);
}

std::string spoken(const PreparedText& text, TextSplit split, int64_t document) {
  const TextStream& stream = *text.stream(split);
  std::string said;
  for (int64_t i = stream.begin(document) + 1; i < stream.end(document) - 1; ++i) {
    const auto id = static_cast<size_t>(stream.tokens()[static_cast<size_t>(i)]);
    said += spoken_text(text.manifest.texts[id - static_cast<size_t>(kTextSpecials)]);
  }
  return said;
}

TEST(Prepare, KeepsEveryByteOfEveryDocument) {
  const TemporaryFolder folder;
  std::string all_bytes;
  for (int code = 1; code < 0x250; ++code) {
    if (code == '\f') continue;
    if (code < 0x80) {
      all_bytes += static_cast<char>(code);
    } else {
      all_bytes += static_cast<char>(0xC0 | (code >> 6));
      all_bytes += static_cast<char>(0x80 | (code & 0x3F));
    }
  }
  folder.write("a.txt", "first\n\f\n" + all_bytes);
  folder.write("b.txt", "of another file");
  folder.write("v.txt", "valid");
  folder.write("t.txt", "test");
  const TextManifest manifest =
      prepare({{folder / "a.txt", folder / "b.txt"}, {folder / "v.txt"}, {folder / "t.txt"}}, folder / "out");
  const PreparedText text = open_text(folder / "out");
  const TextStream& train = *text.stream(TextSplit::train);
  ASSERT_EQ(train.documents(), 3);
  EXPECT_EQ(spoken(text, TextSplit::train, 0), "first\n");
  EXPECT_EQ(spoken(text, TextSplit::train, 1), all_bytes);
  EXPECT_EQ(spoken(text, TextSplit::train, 2), "of another file");
  EXPECT_EQ(spoken(text, TextSplit::validation, 0), "valid");
  EXPECT_EQ(spoken(text, TextSplit::test, 0), "test");
  for (int64_t document = 0; document < 3; ++document) {
    EXPECT_EQ(train.tokens()[static_cast<size_t>(train.begin(document))], kTextBos);
    EXPECT_EQ(train.tokens()[static_cast<size_t>(train.end(document) - 1)], kTextEos);
  }
  const SplitManifest& counts = manifest.of(TextSplit::train);
  EXPECT_EQ(counts.documents, 3);
  EXPECT_EQ(counts.bytes, 6 + std::ssize(all_bytes) + 15);
  EXPECT_EQ(counts.tokens, counts.bytes + 6);
  EXPECT_EQ(counts.longest_document, std::ssize(all_bytes) + 2);
  ASSERT_EQ(counts.sources.size(), 2u);
  EXPECT_EQ(counts.sources[1].file, "b.txt");
}

// Where one file is all there is, its end is kept for validation and test.
TEST(Prepare, HoldsOutTheEndOfTheText) {
  const TemporaryFolder folder;
  std::string text;
  for (int line = 0; line < 1000; ++line) text += fmt::format("this is line {:03}\n", line);
  folder.write("a.txt", text);
  prepare({{folder / "a.txt"}, {}, {}, 0.1}, folder / "out");
  const PreparedText prepared = open_text(folder / "out");
  const std::string parts[] = {spoken(prepared, TextSplit::train, 0), spoken(prepared, TextSplit::validation, 0),
                               spoken(prepared, TextSplit::test, 0)};
  EXPECT_EQ(parts[0] + parts[1] + parts[2], text);
  EXPECT_EQ(parts[1].size(), text.size() / 10);
  EXPECT_TRUE(parts[1].starts_with("this is line 800\n"));
  EXPECT_TRUE(parts[2].starts_with("this is line 900\n"));
  EXPECT_EQ(mistake_of([&] {
              prepare({{folder / "a.txt"}, {}, {}, 0.5}, folder / "other");
            }),
            "--hold-out must be between 0 and 0.4, not 0.5");
}

TEST(Prepare, LeavesNothingBehindWhenItFails) {
  const TemporaryFolder folder;
  folder.write("a.txt", "good");
  folder.write("b.txt", "bad \xFF");
  EXPECT_NE(mistake_of([&] { prepare({{folder / "a.txt", folder / "b.txt"}, {}, {}}, folder / "out"); }), "");
  EXPECT_EQ(folder.size(), 2u);
  make_folder(folder / "full");
  folder.write("full/file", "");
  EXPECT_NE(mistake_of([&] {
              prepare({{folder / "a.txt"}, {}, {}}, folder / "full");
            }).find("exists already"),
            std::string::npos);
}

/// As many tokens as somebody's model may have; none of them is needed.
class Large : public Tokenizer {
 public:
  explicit Large(size_t size) : texts_(size, "x") {}
  std::string kind() const override { return "sentencepiece"; }
  std::string checksum() const override { return "crc32c:00000000"; }
  const std::vector<std::string>& texts() const override { return texts_; }
  void encode(std::string_view text, std::vector<TextToken>& tokens) const override {
    tokens.insert(tokens.end(), text.size(), 65535);
  }

 private:
  std::vector<std::string> texts_;
};

TEST(Prepare, CountsTokensInSixteenBits) {
  const TemporaryFolder folder;
  folder.write("a.txt", "a text of a few words");
  Progress quiet(Progress::Mode::quiet);
  const auto mistake = [&](size_t size, const std::string& out) {
    return mistake_of([&] { prepare_text({{folder / "a.txt"}, {}, {}, 0}, Large(size), folder / out, quiet); });
  };
  EXPECT_EQ(mistake(65534, "out"),
            "the tokenizer has 65537 tokens with the specials, more than the 65536 that 16 bits can count");
  EXPECT_FALSE(is_there(folder / "out"));
  EXPECT_EQ(mistake(65533, "out"), "");
  EXPECT_EQ(open_text(folder / "out").stream(TextSplit::train)->tokens()[1], 65535);
  Json json = parse_json(read_file(folder / "out" / "manifest.json"), "test");
  json["tokenizer"]["texts"].push_back("one more");
  json.erase("checksum");
  write_file(folder / "out" / "manifest.json", json_text(json));
  EXPECT_NE(mistake_of([&] { open_text(folder / "out"); }).find("more than 16 bits can count"), std::string::npos);
}

class Damaged : public testing::Test {
 protected:
  void SetUp() override {
    folder_.write("a.txt", std::string(1000, 'a') + "\f" + std::string(500, 'b'));
    prepare({{folder_ / "a.txt"}, {}, {}}, folder_ / "out");
  }
  std::string mistake() const {
    return mistake_of([&] { open_text(folder_ / "out"); });
  }
  std::filesystem::path file(const std::string& name) const { return folder_.path() / "out" / name; }

  TemporaryFolder folder_;
};

TEST_F(Damaged, ShardsAreRefused) {
  EXPECT_EQ(mistake(), "");
  const std::string bytes = read_file(file("train-00000.tokens"));
  std::string other = bytes;
  other[100] = static_cast<char>(other[100] + 1);
  write_file(file("train-00000.tokens"), other);
  EXPECT_NE(mistake().find("train-00000.tokens is not the file that its manifest.json tells of"), std::string::npos);
  write_file(file("train-00000.tokens"), bytes.substr(2));
  EXPECT_NE(mistake().find(fmt::format("has {} bytes, and should have {}", bytes.size() - 2, bytes.size())),
            std::string::npos);
  remove_path(file("train-00000.tokens"));
  EXPECT_EQ(mistake(), file("train-00000.tokens").string() + " is missing");
}

TEST_F(Damaged, ManifestsAreRefused) {
  const std::string text = read_file(file("manifest.json"));
  const auto replaced = [&](const std::string& from, const std::string& to, bool sealed = true) {
    std::string changed = text;
    changed.replace(changed.find(from), from.size(), to);
    Json json = parse_json(changed, "test");
    if (sealed) {
      json.erase("checksum");
      seal(json);
    }
    write_file(file("manifest.json"), json_text(json));
    return mistake();
  };
  EXPECT_NE(replaced("\"documents\": 2", "\"documents\": 3", false).find("damaged"), std::string::npos);
  EXPECT_NE(replaced("\"documents\": 2", "\"documents\": 3").find("its sizes do not fit"), std::string::npos);
  EXPECT_NE(replaced("\"version\": 1", "\"version\": 2").find("format version 2"), std::string::npos);
  EXPECT_NE(replaced("train-00000.tokens", "../../etc/passwd").find("in the same folder"), std::string::npos);
  EXPECT_NE(replaced("\"bytes\"\n", "\"words\"\n").find("the tokenizer 'words' is not known"), std::string::npos);
  remove_path(file("manifest.json"));
  EXPECT_NE(mistake().find("is no folder of prepared text"), std::string::npos);
}

}  // namespace
}  // namespace lengthwise
