#include "data/study_cut.h"

#include "core/text.h"

namespace lengthwise {
namespace {

/// A piece of text and its tokens, with a bar before each but the first; a bar in front is a space by itself.
struct KnownCut {
  std::string_view piece;
  std::string_view tokens;
};
constexpr KnownCut kKnown[] = {
    {"[SEP]", "[|S|EP|]"},
    {"[NEXT]", "[|NE|X|T|]"},
    {"'s", "'|s"},
    {"Compute", "Comp|ute"},
    {"Evaluate", "Eva|luate"},
    {"Is", "I|s"},
    {"Reverse", "Re|verse"},
    {"Solve", "Sol|ve"},
    {"Then", "The|n"},
    {"append", "app|end"},
    {"prepend", "prep|end"},
    {"re", "|re"},
    {"remove_first", "remove|_|first"},
    {"remove_second", "remove|_|second"},
    {"sorted", "|sorted"},
    {"swap_first_last", "swap|_|first|_|last"},
    {"thrice", "|th|rice"},
    {"unsorted", "un|sorted"},
};

/// Symbols that no piece of the vocabulary has a space before.
constexpr std::string_view kWithoutSpace = "?].-,";

/// The size of what begins a chunk and is one token although it is several pieces of text; 0: nothing such. Only those
/// that begin with a digit have the space before them in the same token.
size_t merged_size(std::string_view chunk) {
  if (chunk.size() == 2 && is_digit(chunk[0]) && (chunk[1] == ',' || chunk[1] == '.')) return 2;
  if (chunk.starts_with("].")) return 2;
  if (chunk.starts_with("+1") || chunk.starts_with("-1")) {
    std::string_view behind = chunk.substr(1);
    return take_piece(behind).text == "1" ? 2 : 0;
  }
  return 0;
}

/// Whether the space before a piece of text that begins a chunk is a token of its own.
bool needs_space(std::string_view piece) {
  if (piece.size() != 1) return false;
  const char c = piece[0];
  return c == '0' || (c >= 'a' && c <= 'z') || kWithoutSpace.find(c) != std::string_view::npos;
}

}  // namespace

void study_cut(std::string_view chunk, std::vector<std::string_view>& parts) {
  parts.clear();
  if (const size_t size = merged_size(chunk); size > 0) {
    if (!is_digit(chunk[0])) parts.push_back(chunk.substr(0, 0));
    parts.push_back(chunk.substr(0, size));
    chunk.remove_prefix(size);
  }
  while (!chunk.empty()) {
    const Piece piece = take_piece(chunk);
    const KnownCut* known = nullptr;
    for (const KnownCut& cut : kKnown) {
      if (cut.piece == piece.text) known = &cut;
    }
    if (known == nullptr) {
      if (parts.empty() && needs_space(piece.text)) parts.push_back(piece.text.substr(0, 0));
      parts.push_back(piece.text);
      continue;
    }
    size_t at = 0;
    std::string_view tokens = known->tokens;
    while (true) {
      const size_t size = std::min(tokens.find('|'), tokens.size());
      // Within a chunk nothing has a space before it.
      if (size > 0 || parts.empty()) parts.push_back(piece.text.substr(at, size));
      at += size;
      if (size == tokens.size()) break;
      tokens.remove_prefix(size + 1);
    }
  }
}

}  // namespace lengthwise
