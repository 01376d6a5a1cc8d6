#include "tasks/prompt_reader.h"

#include "core/error.h"

namespace lengthwise {

std::string_view PromptReader::next(std::string_view expected) {
  if (at_end()) fail_expected(expected);
  return pieces_[at_++].text;
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

void PromptReader::expect_end() {
  if (!at_end()) fail_expected("the end");
}

int PromptReader::digit() {
  const std::string_view piece = peek();
  if (piece.size() != 1 || piece[0] < '0' || piece[0] > '9') fail_expected("a digit");
  ++at_;
  return piece[0] - '0';
}

void PromptReader::fail_expected(std::string_view expected) const {
  fail("cannot parse \"{}\": expected {} at word {}, found {}", excerpt(prompt_), expected, at_ + 1,
       at_end() ? "the end" : fmt::format("'{}'", excerpt(peek(), 20)));
}

void PromptReader::fail_because(std::string_view reason) const {
  fail("cannot parse \"{}\": {}", excerpt(prompt_), reason);
}

}  // namespace lengthwise
