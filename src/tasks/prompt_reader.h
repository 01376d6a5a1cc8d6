#pragma once
/// Reads a prompt piece by piece for a solver. Spacing does not matter: `2 ?` and `2?` read alike.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/text.h"

namespace lengthwise {

class PromptReader {
 public:
  explicit PromptReader(std::string_view prompt) : prompt_(prompt), pieces_(split_pieces(prompt)) {}

  bool at_end() const { return at_ == pieces_.size(); }
  size_t left() const { return pieces_.size() - at_; }

  /// The piece `ahead` places further on, or "" past the end.
  std::string_view peek(size_t ahead = 0) const {
    return at_ + ahead < pieces_.size() ? pieces_[at_ + ahead].text : std::string_view();
  }

  /// Whether a word comes next rather than a symbol or the end.
  bool at_word() const { return at_ < pieces_.size() && pieces_[at_].is_word; }

  /// Takes the next piece; an error at the end.
  std::string_view next(std::string_view expected);

  /// Takes the next word; an error at a symbol or the end.
  std::string_view word();

  /// Takes whatever stands before the next white space or marker (`w1`, `%`, `...`): a symbol of any spelling. An error
  /// at a marker or the end.
  std::string_view chunk();

  /// Whether neither a marker nor the end comes next.
  bool at_chunk() const { return !at_end() && !is_marker(pieces_[at_]); }

  /// Takes the pieces of `text` if all of them come next.
  bool accept(std::string_view text);

  /// Takes the pieces of `text`; an error if they do not come next.
  void expect(std::string_view text);

  /// An error unless everything was read.
  void expect_end() const;

  /// Takes one decimal digit.
  int digit();

  /// Takes the digits of one number, spaced or not (`1 2` and `12` read alike); leading zeros are dropped.
  std::string digits();

  /// Takes a whole number of up to 18 digits, spaced or not.
  int64_t natural();

  /// The same with an optional sign before it.
  int64_t integer();

  /// Takes a whole number of up to 18 digits that is one word: where spaces part numbers, not digits.
  int64_t number_word();

  /// Throws UserError: cannot parse "...": expected X at word 5, found 'y'.
  [[noreturn]] void fail_expected(std::string_view expected) const;

  /// Throws UserError: cannot parse "...": REASON.
  [[noreturn]] void fail_because(std::string_view reason) const;

 private:
  static bool is_marker(const Piece& piece) { return piece.text == "[SEP]" || piece.text == "[NEXT]"; }

  /// The number's value; an error beyond 18 digits.
  int64_t value_of(std::string_view digits) const;

  std::string_view prompt_;
  std::vector<Piece> pieces_;
  size_t at_ = 0;
};

}  // namespace lengthwise
