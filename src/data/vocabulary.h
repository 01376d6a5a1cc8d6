#pragma once
/// A closed vocabulary of words and symbols: text to token ids and back.
///
/// Ids 0, 1 and 2 are the specials `<eos>`, `<bos>` and `<sep>`; the tokens of the texts the vocabulary was made from
/// follow in the order of their first appearance. A special never stands for text: the text `<eos>` is the three pieces
/// `<`, `eos` and `>`. There are two ways to cut text into tokens:
///
/// * by pieces (core/text.h): a token is a word or a symbol. A word has one id. A symbol has one for each way it is
///   glued to its neighbours, decided at every place where two pieces touch without white space: a symbol on the right
///   of the place is glued to its left; otherwise the symbol on the left of it is glued to its right (two words cannot
///   touch).
/// * as in the founding study (study_cut.h), for the wording its models read: all tokens of a chunk of text but the
///   first are glued to their left, and a token without text is a space.
///
/// Decoding puts one space between two tokens unless the left one is glued to its right or the right one to its left.
/// Hence, for every text the vocabulary can encode,
///
///     decode(encode(text)) == collapse_spaces(text)
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "data/token_table.h"
#include "tasks/style.h"

namespace lengthwise {

class Task;

/// How text is cut into tokens. Those of a text that was prepared (text/tokenizer.h): every byte is one, or subwords,
/// which only the tokenizer knows to find. Their tokens touch, and stand for spoken_text of what they are called.
enum class Cut { pieces, study, bytes, subwords };
constexpr bool is_text_cut(Cut cut) {
  return cut == Cut::bytes || cut == Cut::subwords;
}

/// As in the study where the wording is the one its models read.
constexpr Cut cut_of(Wording wording) {
  return wording == Wording::released ? Cut::study : Cut::pieces;
}

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
  explicit Vocabulary(Cut cut = Cut::pieces);

  /// The tokens of Task::lexicon().
  Vocabulary(const Task& task, Wording wording);

  /// Tokens of these texts behind the specials, of a text that was prepared.
  Vocabulary(Cut cut, const std::vector<std::string>& texts);

  /// Adds the tokens of a text that are not known yet.
  void add(std::string_view text);

  Cut cut() const { return cut_; }

  int32_t size() const { return static_cast<int32_t>(tokens_.size()); }
  const Token& token(int32_t id) const;

  /// Appends the ids of a text; UserError for subwords. A piece that is not known is a UserError that names it, where
  /// it stands and what would be right; `ids` then holds what came before it.
  void encode(std::string_view text, std::vector<int32_t>& ids) const;
  std::vector<int32_t> encode(std::string_view text) const;

  /// The text of the ids; specials are left out.
  std::string decode(std::span<const int32_t> ids) const;

  bool operator==(const Vocabulary& other) const { return cut_ == other.cut_ && tokens_ == other.tokens_; }

  /// vocabulary.json (docs/formats.md). `where` names the origin of the text in errors.
  std::string to_json() const;
  static Vocabulary from_json(std::string_view json, const std::string& where);
  void save(const std::filesystem::path& path) const;
  static Vocabulary load(const std::filesystem::path& path);

 private:
  int32_t find(std::string_view text, uint32_t glue) const {
    if (text.empty()) return space_;
    return table_.find(text, glue,
                       [this](int32_t id) -> const std::string& { return tokens_[static_cast<size_t>(id)].text; });
  }
  void append(Token token);
  void encode_chunk(std::string_view text, std::string_view chunk, std::vector<int32_t>& ids) const;
  [[noreturn]] void fail_unknown(std::string_view text, std::string_view piece, bool is_word, uint32_t glue) const;

  Cut cut_;
  std::vector<Token> tokens_;
  TokenTable table_;    ///< without the specials and the space
  int32_t space_ = -1;  ///< the token without text, if there is one
};

}  // namespace lengthwise
