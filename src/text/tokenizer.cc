#include "text/tokenizer.h"

#include "core/error.h"
#include "core/files.h"
#include "core/text.h"

namespace lengthwise {
namespace {

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

class ByteTokenizer : public Tokenizer {
 public:
  ByteTokenizer() {
    for (int byte = 0; byte < 256; ++byte) {
      const bool printable = byte >= 0x20 && byte < 0x7F;
      texts_.push_back(printable ? std::string(1, static_cast<char>(byte))
                                 : byte_name(static_cast<unsigned char>(byte)));
    }
  }

  std::string kind() const override { return "bytes"; }
  std::string checksum() const override { return ""; }
  const std::vector<std::string>& texts() const override { return texts_; }

  void encode(std::string_view text, std::vector<TextToken>& tokens) const override {
    const size_t begin = tokens.size();
    tokens.resize(begin + text.size());
    TextToken* to = tokens.data() + begin;
    for (const char c : text) *to++ = static_cast<TextToken>(kTextSpecials + static_cast<unsigned char>(c));
  }

 private:
  std::vector<std::string> texts_;
};

}  // namespace

std::string byte_name(unsigned char byte) {
  return fmt::format("<0x{:02X}>", byte);
}

int byte_named(std::string_view text) {
  if (text.size() != 6 || !text.starts_with("<0x") || text[5] != '>') return -1;
  const int high = hex_digit(text[3]);
  const int low = hex_digit(text[4]);
  return high < 0 || low < 0 ? -1 : 16 * high + low;
}

std::string spoken_text(std::string_view token_text) {
  if (const int byte = byte_named(token_text); byte >= 0) return {static_cast<char>(byte)};
  std::string text(token_text);
  for (size_t at = text.find(kSpaceMark); at != std::string::npos; at = text.find(kSpaceMark, at + 1))
    text.replace(at, kSpaceMark.size(), " ");
  return text;
}

std::unique_ptr<Tokenizer> make_byte_tokenizer() {
  return std::make_unique<ByteTokenizer>();
}

std::unique_ptr<Tokenizer> make_tokenizer(const std::string& name) {
  if (name == "bytes") return make_byte_tokenizer();
  if (!is_file(name)) {
    fail(
        "--tokenizer {}: there is no such file; it is `bytes`, or a SentencePiece model as `lengthwise text tokenizer` "
        "makes one{}",
        excerpt(name), did_you_mean(name, {"bytes"}));
  }
  return make_subword_tokenizer(name);
}

}  // namespace lengthwise
