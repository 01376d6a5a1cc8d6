#include "core/text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "core/printable.h"

namespace lengthwise {
namespace {

bool is_word_byte(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte > 127 || (byte >= '0' && byte <= '9') || (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
         byte == '_';
}

constexpr std::string_view kLongSymbols[] = {"[SEP]", "[NEXT]", "**", "'s"};

/// Names longer than this are nobody's; it bounds the work on hostile input.
constexpr size_t kLongestName = 64;

/// With transpositions of neighbours. `b` has less than 2 * kLongestName bytes.
size_t edit_distance(std::string_view a, std::string_view b) {
  std::array<std::array<size_t, 2 * kLongestName>, 3> rows;  // of cost[i][j], the last three i
  for (size_t j = 0; j <= b.size(); ++j) rows[0][j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    auto& row = rows[i % 3];
    const auto& before = rows[(i + 2) % 3];
    const auto& before_that = rows[(i + 1) % 3];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({before[j] + 1, row[j - 1] + 1, before[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], before_that[j - 2] + 1);
      }
    }
  }
  return rows[a.size() % 3][b.size()];
}

}  // namespace

bool is_space(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v';
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

Piece take_piece(std::string_view& text) {
  Piece piece;
  size_t size = 0;
  while (size < text.size() && is_word_byte(text[size])) ++size;
  piece.is_word = size > 0;
  if (size == 0) {
    size = 1;
    for (const std::string_view symbol : kLongSymbols) {
      if (!text.starts_with(symbol)) continue;
      // `'s` is a symbol of its own only at the end of a word: "'sun" is a quote and a word.
      if (symbol == "'s" && text.size() > 2 && is_word_byte(text[2])) continue;
      size = symbol.size();
      break;
    }
  }
  piece.text = text.substr(0, size);
  text.remove_prefix(size);
  return piece;
}

std::vector<Piece> split_pieces(std::string_view text) {
  std::vector<Piece> pieces;
  bool glued = false;
  while (!text.empty()) {
    if (is_space(text.front())) {
      text.remove_prefix(1);
      glued = false;
      continue;
    }
    Piece piece = take_piece(text);
    piece.glued = glued;
    pieces.push_back(piece);
    glued = true;
  }
  return pieces;
}

std::vector<std::string_view> split_words(std::string_view text) {
  std::vector<std::string_view> words;
  size_t at = 0;
  while (at < text.size()) {
    while (at < text.size() && is_space(text[at])) ++at;
    const size_t begin = at;
    while (at < text.size() && !is_space(text[at])) ++at;
    if (at > begin) words.push_back(text.substr(begin, at - begin));
  }
  return words;
}

std::string_view trim(std::string_view text) {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

std::string join(const std::vector<std::string>& parts, std::string_view separator) {
  return fmt::format("{}", fmt::join(parts, separator));
}

std::string collapse_spaces(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  for (const std::string_view word : split_words(text)) {
    if (!result.empty()) result += ' ';
    result += word;
  }
  return result;
}

std::string nearest_name(std::string_view name, const std::vector<std::string>& candidates) {
  if (name.empty() || name.size() > kLongestName) return "";
  const size_t most = std::max<size_t>(1, name.size() / 3);
  std::string best;
  size_t best_cost = SIZE_MAX;
  for (const std::string& candidate : candidates) {
    // The distance is at least the difference in size.
    if (candidate.size() > name.size() + most || candidate.size() + most < name.size()) continue;
    const size_t cost = edit_distance(name, candidate);
    if (cost < best_cost) {
      best_cost = cost;
      best = candidate;
    }
  }
  // Names with nothing in common are not near, however short.
  const size_t shorter = std::min(name.size(), best.size());
  if (best_cost < shorter && best_cost <= std::max<size_t>(1, shorter / 3)) return best;
  for (const std::string& candidate : candidates) {
    if (name.size() >= 3 && candidate.starts_with(name)) return candidate;
  }
  std::string longest;
  for (const std::string& candidate : candidates) {
    if (candidate.size() >= 4 && candidate.size() > longest.size() && name.starts_with(candidate)) longest = candidate;
  }
  return longest;
}

std::string did_you_mean(std::string_view name, const std::vector<std::string>& candidates) {
  const std::string nearest = nearest_name(name, candidates);
  return nearest.empty() ? "" : fmt::format("; did you mean '{}'?", nearest);
}

std::string excerpt(std::string_view text, size_t limit) {
  size_t end = std::min(text.size(), limit);
  // Do not cut a UTF-8 character in two.
  while (end > 0 && end < text.size() && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  std::string result(text.substr(0, end));
  std::replace_if(result.begin(), result.end(), is_space, ' ');
  return printable(result) + (end < text.size() ? "..." : "");
}

}  // namespace lengthwise
