#include "tasks/prompt_reader.h"

#include <algorithm>

#include "core/error.h"

namespace lengthwise {
namespace {

bool all_digits(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), is_digit);
}

}  // namespace

std::string_view PromptReader::next(std::string_view expected) {
  if (at_end()) fail_expected(expected);
  return pieces_[at_++].text;
}

std::string_view PromptReader::word() {
  if (!at_word()) fail_expected("a word");
  return pieces_[at_++].text;
}

std::string_view PromptReader::chunk() {
  if (!at_chunk()) fail_expected("a word");
  const char* const begin = pieces_[at_].text.data();
  const char* end = begin;
  do {
    end = pieces_[at_].text.data() + pieces_[at_].text.size();
    ++at_;
  } while (at_chunk() && pieces_[at_].glued);
  return {begin, static_cast<size_t>(end - begin)};
}

bool PromptReader::accept(std::string_view text) {
  size_t ahead = 0;
  while (!text.empty()) {
    if (is_space(text.front())) {
      text.remove_prefix(1);
      continue;
    }
    if (peek(ahead) != take_piece(text).text) return false;
    ++ahead;
  }
  at_ += ahead;
  return true;
}

void PromptReader::expect(std::string_view text) {
  if (!accept(text)) fail_expected("'" + std::string(text) + "'");
}

void PromptReader::expect_end() const {
  if (!at_end()) fail_expected("the end");
}

int PromptReader::digit() {
  const std::string_view piece = peek();
  if (piece.size() != 1 || piece[0] < '0' || piece[0] > '9') fail_expected("a digit");
  ++at_;
  return piece[0] - '0';
}

std::string PromptReader::digits() {
  if (!all_digits(peek())) fail_expected("a digit");
  std::string number;
  while (all_digits(peek())) number += pieces_[at_++].text;
  number.erase(0, std::min(number.find_first_not_of('0'), number.size() - 1));
  return number;
}

int64_t PromptReader::value_of(std::string_view digits) const {
  constexpr size_t kMaxDigits = 18;
  if (digits.size() > kMaxDigits) {
    fail_because(
        fmt::format("{} has {} digits; numbers of up to {} are read", excerpt(digits, 20), digits.size(), kMaxDigits));
  }
  int64_t value = 0;
  for (const char digit : digits) value = value * 10 + (digit - '0');
  return value;
}

int64_t PromptReader::natural() {
  return value_of(digits());
}

int64_t PromptReader::integer() {
  if (accept("-")) return -natural();
  accept("+");
  return natural();
}

int64_t PromptReader::number_word() {
  if (!all_digits(peek())) fail_expected("a whole number");
  return value_of(pieces_[at_++].text);
}

void PromptReader::fail_expected(std::string_view expected) const {
  fail("cannot parse \"{}\": expected {} at word {}, found {}", excerpt(prompt_), expected, at_ + 1,
       at_end() ? "the end" : fmt::format("'{}'", excerpt(peek(), 20)));
}

void PromptReader::fail_because(std::string_view reason) const {
  fail("cannot parse \"{}\": {}", excerpt(prompt_), reason);
}

}  // namespace lengthwise
