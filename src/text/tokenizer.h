#pragma once
/// From text to token ids and the texts that the ids stand for.
///
/// Ids 0, 1 and 2 are `<eos>`, `<bos>` and `<sep>`, as in every vocabulary (data/vocabulary.h); a tokenizer's own
/// follow. A document is `<bos> tokens <eos>`.
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace lengthwise {

using TextToken = uint16_t;

inline constexpr TextToken kTextEos = 0;
inline constexpr TextToken kTextBos = 1;
inline constexpr int64_t kTextSpecials = 3;
inline constexpr std::string_view kSpaceMark = "\xE2\x96\x81";  ///< U+2581, which subwords have for a space
inline constexpr int64_t kMostTextTokens = int64_t{1} << 16;    ///< ids are kept in 16 bits

class Tokenizer {
 public:
  virtual ~Tokenizer() = default;

  virtual std::string kind() const = 0;  ///< `bytes` or `sentencepiece`
  /// What tells two tokenizers of a kind apart: the checksum of the model's file; "" for bytes.
  virtual std::string checksum() const = 0;
  /// The text of every token behind the specials. A byte that is no printable ASCII is `<0xE9>`; in subwords a space is
  /// U+2581.
  virtual const std::vector<std::string>& texts() const = 0;
  /// Appends the tokens of a piece of text, which is well-formed UTF-8 and ends with a line feed, with its document, or
  /// where it would have become too long.
  virtual void encode(std::string_view text, std::vector<TextToken>& tokens) const = 0;
};

/// `bytes`, or the file of a SentencePiece model. UserError that says what would be right, also where the program was
/// built without SentencePiece.
std::unique_ptr<Tokenizer> make_tokenizer(const std::string& name);

/// 256 tokens, one a byte.
std::unique_ptr<Tokenizer> make_byte_tokenizer();

/// UserError where the file is no model, or has more tokens than 16 bits can count.
std::unique_ptr<Tokenizer> make_subword_tokenizer(const std::filesystem::path& model);

bool has_sentencepiece();

/// `<0xE9>`
std::string byte_name(unsigned char byte);
/// The byte that such a text names; -1 for any other text.
int byte_named(std::string_view text);

/// What a token's text stands for: the byte that it names, or itself with every U+2581 a space.
std::string spoken_text(std::string_view token_text);

}  // namespace lengthwise
