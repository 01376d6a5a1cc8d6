#pragma once
/// Words, symbols and names: how text is cut up everywhere in Lengthwise, and how a wrong name finds the right one.
#include <string>
#include <string_view>
#include <vector>

namespace lengthwise {

/// A piece of text: a word (letters, digits, `_` and bytes above 127), a marker (`[SEP]`, `[NEXT]`), or one symbol
/// (`**` and `'s` count as one). `glued` says that no white space stood before it although it is not the first piece.
struct Piece {
  std::string_view text;
  bool is_word = false;
  bool glued = false;
};

/// Cuts the piece at the start of `text` off; `text` must be non-empty and not start with white space.
Piece take_piece(std::string_view& text);

/// All pieces of a text. White space separates and is otherwise dropped.
std::vector<Piece> split_pieces(std::string_view text);

bool is_space(char c);
bool is_digit(char c);
std::vector<std::string_view> split_words(std::string_view text);
std::string_view trim(std::string_view text);
std::string join(const std::vector<std::string>& parts, std::string_view separator);

/// Every run of white space becomes one space, and none is left at either end.
std::string collapse_spaces(std::string_view text);

/// The candidate nearest to `name` (edit distance with transpositions), else one that begins with it, else the longest
/// that it begins with, or "" when none is close.
std::string nearest_name(std::string_view name, const std::vector<std::string>& candidates);

/// "; did you mean 'sort'?" or "", to be appended to an error about an unknown name.
std::string did_you_mean(std::string_view name, const std::vector<std::string>& candidates);

/// A text for an error message: shortened when it is long, and on one line whatever it holds (white space becomes
/// spaces, the rest is made printable).
std::string excerpt(std::string_view text, size_t limit = 60);

}  // namespace lengthwise
