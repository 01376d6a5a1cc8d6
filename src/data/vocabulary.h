#pragma once
/// A closed vocabulary of words and symbols: text to token ids and back.
///
/// A token is a piece of text (core/text.h), or a part of a marker: `[SEP]` and `[NEXT]` are as many tokens as in the
/// founding study, so that answers lie as far from their prompts as there. Ids 0, 1 and 2 are the specials `<eos>`,
/// `<bos>` and `<sep>`; the pieces of the texts the vocabulary was made from follow in the order of their first
/// appearance. A special never stands for text: the text `<eos>` is the three pieces `<`, `eos` and `>`.
///
/// A word has one id. A symbol has one for each way it is glued to its neighbours, decided at every place where two
/// pieces touch without white space: a symbol on the right of the place is glued to its left; otherwise the symbol on
/// the left of it is glued to its right (two words cannot touch). Decoding puts one space between two tokens unless the
/// left one is glued to its right or the right one to its left. The parts of a marker are symbols. Hence, for every
/// text the vocabulary can encode,
///
///     decode(encode(text)) == collapse_spaces(text)
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "data/token_table.h"

namespace lengthwise {

class Task;

struct Token {
  static constexpr uint32_t kGlueLeft = 1;
  static constexpr uint32_t kGlueRight = 2;

  std::string text;
  bool glue_left = false;   ///< touches the piece before it
  bool glue_right = false;  ///< touches the piece after it

  uint32_t glue() const { return (glue_left ? kGlueLeft : 0) | (glue_right ? kGlueRight : 0); }
  bool operator==(const Token&) const = default;
};

class Vocabulary {
 public:
  static constexpr int32_t kEos = 0;
  static constexpr int32_t kBos = 1;
  static constexpr int32_t kSep = 2;
  static constexpr int32_t kSpecials = 3;

  /// The specials alone.
  Vocabulary();

  /// The pieces of Task::lexicon().
  explicit Vocabulary(const Task& task);

  /// Adds the pieces of a text that are not known yet.
  void add(std::string_view text);

  int32_t size() const { return static_cast<int32_t>(tokens_.size()); }
  const Token& token(int32_t id) const;

  /// Appends the ids of a text. A piece that is not known is a UserError that names it, where it stands and what would
  /// be right; `ids` then holds what came before it.
  void encode(std::string_view text, std::vector<int32_t>& ids) const;
  std::vector<int32_t> encode(std::string_view text) const;

  /// The text of the ids; specials are left out.
  std::string decode(std::span<const int32_t> ids) const;

  bool operator==(const Vocabulary& other) const { return tokens_ == other.tokens_; }

  /// vocabulary.json (docs/formats.md). `where` names the origin of the text in errors.
  std::string to_json() const;
  static Vocabulary from_json(std::string_view json, const std::string& where);
  void save(const std::filesystem::path& path) const;
  static Vocabulary load(const std::filesystem::path& path);

 private:
  int32_t find(std::string_view text, uint32_t glue) const {
    return table_.find(text, glue,
                       [this](int32_t id) -> const std::string& { return tokens_[static_cast<size_t>(id)].text; });
  }
  void append(Token token);
  void encode_chunk(std::string_view text, std::string_view chunk, std::vector<int32_t>& ids) const;
  [[noreturn]] void fail_unknown(std::string_view text, std::string_view piece, bool is_word, uint32_t glue) const;

  std::vector<Token> tokens_;
  TokenTable table_;  ///< without the specials
};

}  // namespace lengthwise
