#include "tasks/answer.h"

#include <algorithm>

#include "core/text.h"

namespace lengthwise {
namespace {

constexpr std::string_view kAnswer = "The answer is";
constexpr std::string_view kSortedList = "The sorted list is";

using Found = std::optional<std::string_view>;

Found behind_last(std::string_view text, std::string_view sentence) {
  const size_t at = text.rfind(sentence);
  if (at == std::string_view::npos) return std::nullopt;
  return text.substr(at + sentence.size());
}

Found before_last(Found text, char end) {
  if (!text) return std::nullopt;
  const size_t at = text->rfind(end);
  if (at == std::string_view::npos) return std::nullopt;
  return text->substr(0, at);
}

/// Digits with a sign or without; spaces may stand anywhere. `-0` is 0.
std::optional<std::string> canonical_integer(std::string_view text) {
  std::string digits;
  bool negative = false;
  bool begun = false;
  for (const char c : text) {
    if (is_space(c)) continue;
    if (!begun && (c == '-' || c == '+')) {
      negative = c == '-';
    } else if (is_digit(c)) {
      digits += c;
    } else {
      return std::nullopt;
    }
    begun = true;
  }
  if (digits.empty()) return std::nullopt;
  digits.erase(0, std::min(digits.find_first_not_of('0'), digits.size() - 1));
  return negative && digits != "0" ? "-" + digits : digits;
}

std::optional<std::string> number(std::string_view text) {
  const Found found = behind_last(text, kAnswer);
  if (!found || found->empty() || !is_space(found->front())) return std::nullopt;
  std::string_view rest = trim(*found);
  const bool negative = rest.starts_with('-');
  if (negative) rest.remove_prefix(1);
  if (negative && !rest.empty() && is_space(rest.front())) rest.remove_prefix(1);
  if (rest.empty() || is_space(rest.front())) return std::nullopt;
  const auto end =
      std::find_if_not(rest.begin(), rest.end(), [](char c) { return is_digit(c) || is_space(c) || c == '.'; });
  const Found run = before_last(rest.substr(0, static_cast<size_t>(end - rest.begin())), '.');
  if (!run) return std::nullopt;
  std::optional<std::string> value = canonical_integer(*run);
  if (value && negative && *value != "0") value->insert(0, "-");
  return value;
}

Found statement(std::string_view text) {
  const Found found = before_last(behind_last(text, kAnswer), '.');
  if (!found || trim(*found).empty()) return std::nullopt;
  return trim(*found);
}

/// What stands between the brackets.
Found bracketed(std::string_view behind_sentence) {
  const std::string_view rest = trim(behind_sentence);
  if (!rest.starts_with('[')) return std::nullopt;
  return before_last(rest.substr(1), ']');
}

/// Every item as `canonical` writes it; nothing where it gives nothing for one of them.
template <class Canonical>
std::optional<std::string> each_item(Found items, Canonical canonical) {
  if (!items) return std::nullopt;
  std::string result;
  for (std::string_view rest = *items;; result += ',') {
    const size_t comma = rest.find(',');
    const std::optional<std::string> item = canonical(rest.substr(0, comma));
    if (!item) return std::nullopt;
    result += *item;
    if (comma == std::string_view::npos) return result;
    rest.remove_prefix(comma + 1);
  }
}

std::optional<std::string> list(std::string_view text, bool numbers) {
  const Found sorted = behind_last(text, kSortedList);
  const Found items = sorted ? bracketed(*sorted) : statement(text);
  if (!items) return std::nullopt;
  std::optional<std::string> result;
  if (numbers) {
    result = each_item(items, canonical_integer);
  } else if (sorted) {
    result = each_item(items, [](std::string_view item) { return std::optional(std::string(trim(item))); });
  } else {
    result = collapse_spaces(*items);
  }
  // The brackets stay, so that the sentence of one wording is no answer in the other.
  if (result && sorted) result = "[" + *result + "]";
  return result;
}

}  // namespace

std::optional<std::string> extract_answer(AnswerKind kind, std::string_view text) {
  switch (kind) {
    case AnswerKind::whole:
      return std::string(text);
    case AnswerKind::number:
      return number(text);
    case AnswerKind::statement: {
      const Found found = statement(text);
      if (!found) return std::nullopt;
      std::string small(*found);
      for (char& c : small) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
      return small;
    }
    case AnswerKind::list:
      return list(text, false);
    case AnswerKind::number_list:
      return list(text, true);
  }
  return std::nullopt;
}

}  // namespace lengthwise
