#include "text/documents.h"

#include <gtest/gtest.h>

#include "core/checksum.h"
#include "tests/core/mistake.h"
#include "tests/core/temporary_folder.h"
#include "tests/text/made_files.h"

namespace lengthwise {
namespace {

/// Keeps what is read, with the pieces' borders.
class Kept : public DocumentSink {
 public:
  void text(std::string_view piece) override {
    EXPECT_FALSE(piece.empty());
    EXPECT_EQ(find_invalid_utf8(piece), std::string::npos);
    longest = std::max(longest, piece.size());
    now_ += piece;
    ++pieces;
  }
  void end_document() override {
    documents.push_back(now_);
    now_.clear();
  }

  std::vector<std::string> documents;
  size_t pieces = 0;
  size_t longest = 0;

 private:
  std::string now_;
};

std::vector<std::string> documents_of(const std::string& text) {
  const TemporaryFolder folder;
  folder.write("a.txt", text);
  Kept kept;
  read_documents(folder / "a.txt", kept);
  return kept.documents;
}

using Texts = std::vector<std::string>;

TEST(Documents, AreSeparatedByFormFeeds) {
  EXPECT_EQ(documents_of("one"), Texts{"one"});
  EXPECT_EQ(documents_of("one\ntwo\n"), Texts{"one\ntwo\n"});
  EXPECT_EQ(documents_of("one\n\f\ntwo\n\n\fthree\f"), (Texts{"one\n", "two\n\n", "three"}));
  EXPECT_EQ(documents_of("\f\f\n\fa\f\n\n\f"), (Texts{"a", "\n"}));
}

TEST(Documents, ComeInPiecesThatEndWithLines) {
  const TemporaryFolder folder;
  std::string text;
  for (int line = 0; line < 200'000; ++line) text += fmt::format("line {} with a sign of three bytes: \u20ac\n", line);
  folder.write("long.txt", text + std::string(100'000, 'x') + "\u20ac" + std::string(3'000'000, 'y'));
  Kept kept;
  const TextSource source = read_documents(folder / "long.txt", kept);
  ASSERT_EQ(kept.documents.size(), 1u);
  EXPECT_EQ(kept.documents[0], read_file(folder / "long.txt"));
  EXPECT_GT(kept.pieces, 200'000u);
  EXPECT_LE(kept.longest, size_t{1} << 16);
  EXPECT_EQ(source.file, "long.txt");
  EXPECT_EQ(source.text_bytes, std::ssize(kept.documents[0]));
  EXPECT_EQ(source.checksum, checksum_of(kept.documents[0]));
}

// Wherever a read of the file ends, a character that spans it is whole and a bad byte is found at its place.
TEST(Documents, BadBytesAreReportedWithTheirPlace) {
  const TemporaryFolder folder;
  Kept kept;
  constexpr size_t kRead = 1 << 20;
  for (const size_t at : {size_t{0}, size_t{5}, kRead - 3, kRead - 2, kRead - 1, kRead, 2 * kRead + 1}) {
    const std::string before(at, 'a');
    folder.write("good.txt", before + "\xF0\x9F\x8C\x8D rest");
    EXPECT_EQ(mistake_of([&] { read_documents(folder / "good.txt", kept); }), "") << at;
    for (const char* bad : {"\xFF", "\xE2\x82 ", "\xC0\x80", "\xED\xA0\x80", "\xF0\x9F\x8C"}) {
      folder.write("bad.txt", before + bad);
      EXPECT_EQ(mistake_of([&] { read_documents(folder / "bad.txt", kept); }),
                fmt::format("{}: byte {} is no part of UTF-8 text", (folder / "bad.txt").string(), at));
    }
  }
}

TEST(Documents, WithoutTextAreRefused) {
  const TemporaryFolder folder;
  for (const char* text : {"", "\f\n\f"}) {
    folder.write("empty.txt", text);
    Kept kept;
    EXPECT_EQ(mistake_of([&] { read_documents(folder / "empty.txt", kept); }),
              (folder / "empty.txt").string() + " holds no text");
  }
}

void expect_same_when_packed(std::string (*pack)(const std::string&), const std::string& packing) {
  const TemporaryFolder folder;
  std::string text;
  for (int64_t i = 0; i < 300'000; ++i) text += fmt::format("{} ", i * 7919 % 100'003);
  const std::string packed = pack(text);
  folder.write("named.anyhow", packed + pack("\fthe second part"));
  Kept kept;
  const TextSource source = read_documents(folder / "named.anyhow", kept);
  EXPECT_EQ(kept.documents, (Texts{text, "the second part"}));
  EXPECT_EQ(source.bytes, file_bytes(folder / "named.anyhow"));
  EXPECT_EQ(source.checksum, checksum_of(read_file(folder / "named.anyhow")));

  folder.write("cut", packed.substr(0, packed.size() / 2));
  EXPECT_EQ(mistake_of([&] { read_documents(folder / "cut", kept); }),
            fmt::format("{} is cut short: it cannot be unpacked as {}", (folder / "cut").string(), packing));
  std::string damaged = packed;
  for (size_t i = 0; i < 64; ++i) damaged[packed.size() / 2 + i] = static_cast<char>(~damaged[packed.size() / 2 + i]);
  folder.write("damaged", damaged);
  EXPECT_NE(mistake_of([&] { read_documents(folder / "damaged", kept); }), "");
}

#ifdef LENGTHWISE_LZMA
TEST(Documents, AreUnpackedFromXz) {
  expect_same_when_packed(packed_by_xz, "xz");
}
#endif

#ifdef LENGTHWISE_ZLIB
TEST(Documents, AreUnpackedFromGzip) {
  expect_same_when_packed(packed_by_gzip, "gzip");
}
#endif

}  // namespace
}  // namespace lengthwise
