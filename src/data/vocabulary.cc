#include "data/vocabulary.h"

#include <bit>
#include <optional>

#include "core/error.h"
#include "core/text.h"
#include "data/study_cut.h"
#include "tasks/task.h"
#include "text/tokenizer.h"

namespace lengthwise {
namespace {

constexpr uint32_t kGlueLeft = Token::kGlueLeft;
constexpr uint32_t kGlueRight = Token::kGlueRight;

/// is_space() of core/text.h, inlined for the inner loop of `encode`.
inline bool is_white(char c) {
  return c == ' ' || static_cast<unsigned char>(c - '\t') <= '\r' - '\t';
}

/// Zero when none of the eight bytes is a space; otherwise the lowest bit set is the top bit of the first one that is.
///
/// Why: the exclusive or makes a byte zero exactly where it is a space. One is then taken from each byte, from the
/// lowest up. A byte b > 0 lends nothing to the next as long as none was zero before it, and keeps a top bit in b - 1
/// only for b > 0x80, where ~b has none: no mark. The first zero byte becomes 0xFF, and ~0 has the top bit: a mark. It
/// borrows from the byte above, so that marks further up may be false; nobody looks at them.
inline uint64_t first_space(uint64_t bytes) {
  constexpr uint64_t kOnes = 0x0101010101010101;
  const uint64_t zeros = bytes ^ kOnes * ' ';
  return (zeros - kOnes) & ~zeros & kOnes * 0x80;
}

/// Takes the next run of bytes without white space off the front of `text`; empty at the end.
inline std::string_view take_chunk(std::string_view& text) {
  const char* at = text.data();
  const char* const end = at + text.size();
  while (at != end && is_white(*at)) ++at;
  const char* const begin = at;
  while (at != end && !is_white(*at)) ++at;
  text = std::string_view(at, static_cast<size_t>(end - at));
  return {begin, static_cast<size_t>(at - begin)};
}

/// Calls visit(piece, glue) for each piece of a chunk. How a piece is glued depends on both its neighbours.
template <class Visit>
void for_each_piece(std::string_view chunk, const Visit& visit) {
  Piece piece = take_piece(chunk);
  uint32_t glue = 0;
  while (!chunk.empty()) {
    const Piece next = take_piece(chunk);
    const bool to_next = next.is_word;  // the place between the two belongs to the symbol on its right, if it is one
    visit(piece, glue | (to_next ? kGlueRight : 0));
    glue = to_next ? 0 : kGlueLeft;
    piece = next;
  }
  visit(piece, glue);
}

/// Calls visit(text, glue) for each token of a chunk.
template <class Visit>
void for_each_token(Cut cut, std::string_view chunk, const Visit& visit) {
  if (cut == Cut::pieces) {
    for_each_piece(chunk, [&](const Piece& piece, uint32_t glue) { visit(piece.text, piece.is_word ? 0 : glue); });
    return;
  }
  thread_local std::vector<std::string_view> parts;
  study_cut(chunk, parts);
  for (size_t i = 0; i < parts.size(); ++i) visit(parts[i], i > 0 ? kGlueLeft : 0);
}

bool is_one_word(std::string_view token) {
  return !token.empty() && take_piece(token).is_word && token.empty();
}

bool continues_character(char c) {
  return (static_cast<unsigned char>(c) & 0xC0) == 0x80;
}

/// The text around a piece of it, for an error message.
std::string surroundings(std::string_view text, std::string_view piece) {
  constexpr size_t kMargin = 30;
  const auto at = static_cast<size_t>(piece.data() - text.data());
  size_t begin = at > kMargin ? at - kMargin : 0;
  while (begin < at && continues_character(text[begin])) ++begin;
  size_t end = std::min(text.size(), at + std::min(piece.size(), 2 * kMargin) + kMargin);
  while (end < text.size() && continues_character(text[end])) ++end;
  const std::string_view window = text.substr(begin, end - begin);
  return fmt::format("{}{}{}", begin > 0 ? "..." : "", excerpt(collapse_spaces(window), window.size()),
                     end < text.size() ? "..." : "");
}

/// "a space before it and no space after it": the sides on which `is` differs from `should`.
std::string describe_change(uint32_t is, uint32_t should) {
  std::vector<std::string> parts;
  if ((is ^ should) & kGlueLeft)
    parts.emplace_back((should & kGlueLeft) != 0 ? "no space before it" : "a space before it");
  if ((is ^ should) & kGlueRight)
    parts.emplace_back((should & kGlueRight) != 0 ? "no space after it" : "a space after it");
  return join(parts, " and ");
}

}  // namespace

Vocabulary::Vocabulary(Cut cut) : cut_(cut), tokens_{{"<eos>"}, {"<bos>"}, {"<sep>"}} {}

Vocabulary::Vocabulary(const Task& task, Wording wording) : Vocabulary(cut_of(wording)) {
  for (const std::string& text : task.lexicon()) add(text);
}

Vocabulary::Vocabulary(Cut cut, const std::vector<std::string>& texts) : Vocabulary(cut) {
  for (const std::string& text : texts) append({text});
}

const Token& Vocabulary::token(int32_t id) const {
  LENGTHWISE_CHECK(id >= 0 && id < size(), "token {} of a vocabulary of {}", id, size());
  return tokens_[static_cast<size_t>(id)];
}

void Vocabulary::append(Token token) {
  if (token.text.empty()) {
    space_ = size();
  } else {
    table_.insert(token.text, token.glue(), size());
  }
  tokens_.push_back(std::move(token));
}

void Vocabulary::add(std::string_view text) {
  while (true) {
    const std::string_view chunk = take_chunk(text);
    if (chunk.empty()) return;
    if (find(chunk, 0) >= 0) continue;
    for_each_token(cut_, chunk, [&](std::string_view token, uint32_t glue) {
      if (find(token, glue) >= 0) return;
      append({std::string(token), (glue & kGlueLeft) != 0, (glue & kGlueRight) != 0});
    });
  }
}

void Vocabulary::encode(std::string_view text, std::vector<int32_t>& ids) const {
  if (cut_ == Cut::subwords) fail("a vocabulary of subwords takes text only through `lengthwise text prepare`");
  if (cut_ == Cut::bytes) {
    for (const char c : text) ids.push_back(kSpecials + static_cast<unsigned char>(c));
    return;
  }
  std::string_view left = text;
  while (true) {
    while (!left.empty() && is_white(left.front())) left.remove_prefix(1);
    if (left.empty()) return;
    // Most chunks are a word or symbol of less than eight bytes before a space: found, measured and looked up without
    // a loop over its bytes. `size` is 1..7, since `left` begins with no white space. If another white space ends the
    // chunk earlier, or if the chunk is several tokens, its bytes up to the space are no token's text, nothing is
    // found, and the way below is taken.
    if (left.size() >= 8) {
      const uint64_t bytes = load_little<8>(left.data());
      if (const uint64_t spaces = first_space(bytes); spaces != 0) {
        const int size = std::countr_zero(spaces) / 8;
        const int32_t id = table_.find_short(bytes & ((uint64_t{1} << (8 * size)) - 1), static_cast<size_t>(size));
        if (id >= 0) {
          ids.push_back(id);
          left.remove_prefix(static_cast<size_t>(size));
          continue;
        }
      }
    }
    const std::string_view chunk = take_chunk(left);
    // A chunk that reads like a token glued to nothing is that token: such a token is a whole chunk somewhere, or
    // begins one, and is cut alike there.
    const int32_t id = find(chunk, 0);
    if (id >= 0) {
      ids.push_back(id);
    } else {
      encode_chunk(text, chunk, ids);
    }
  }
}

void Vocabulary::encode_chunk(std::string_view text, std::string_view chunk, std::vector<int32_t>& ids) const {
  for_each_token(cut_, chunk, [&](std::string_view token, uint32_t glue) {
    const int32_t id = find(token, glue);
    if (id < 0) fail_unknown(text, token, is_one_word(token), glue);
    ids.push_back(id);
  });
}

std::vector<int32_t> Vocabulary::encode(std::string_view text) const {
  std::vector<int32_t> ids;
  encode(text, ids);
  return ids;
}

std::string Vocabulary::decode(std::span<const int32_t> ids) const {
  std::string text;
  bool glued = true;  // nothing stands before the first token
  for (const int32_t id : ids) {
    if (id >= 0 && id < kSpecials) continue;
    const Token& next = token(id);
    if (is_text_cut(cut_)) {
      text += spoken_text(next.text);
      continue;
    }
    if (!glued && !next.glue_left) text += ' ';
    text += next.text;
    glued = next.glue_right;
  }
  return text;
}

void Vocabulary::fail_unknown(std::string_view text, std::string_view piece, bool is_word, uint32_t glue) const {
  const std::string place = surroundings(text, piece);
  if (is_word) {
    std::vector<std::string> words;
    for (size_t id = kSpecials; id < tokens_.size(); ++id) words.push_back(tokens_[id].text);
    fail("the word '{}' in \"{}\" is not in the vocabulary{}", excerpt(piece), place, did_you_mean(piece, words));
  }
  std::optional<uint32_t> nearest;
  for (uint32_t other = 0; other < 4; ++other) {
    if (find(piece, other) < 0) continue;
    if (!nearest || std::popcount(other ^ glue) < std::popcount(*nearest ^ glue)) nearest = other;
  }
  if (!nearest) fail("the symbol '{}' in \"{}\" is not in the vocabulary", excerpt(piece), place);
  fail("'{}' in \"{}\" must {} {}", excerpt(piece), place, *nearest == 0 ? "stand apart, with" : "be written with",
       describe_change(glue, *nearest));
}

}  // namespace lengthwise
