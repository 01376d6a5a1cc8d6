#pragma once
/// Answers worked out a third time, from the text of a prompt and by the most naive method there is.
///
/// Nothing of the library is used here: what both a generator and its solver get wrong in the same way shows up as a
/// disagreement with this file.
#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace lengthwise::oracle {

using Strings = std::vector<std::string>;

inline std::string without(const std::string& text, const std::string& part) {
  std::string result;
  size_t begin = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, begin)) {
    result.append(text, begin, at - begin);
    begin = at + part.size();
  }
  return result.append(text, begin);
}

/// What stands between the first `left` and the last `right` after it; up to the end where `right` is missing.
inline std::string between(const std::string& text, const std::string& left, const std::string& right) {
  const size_t found = text.find(left);
  if (found == std::string::npos) return "";
  const size_t begin = found + left.size();
  const size_t end = text.rfind(right);
  return text.substr(begin, end == std::string::npos || end < begin ? std::string::npos : end - begin);
}

inline std::string trimmed(const std::string& text) {
  const size_t first = text.find_first_not_of(' ');
  return first == std::string::npos ? "" : text.substr(first, text.find_last_not_of(' ') - first + 1);
}

inline Strings split(const std::string& text, char separator) {
  Strings parts;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find(separator, begin), text.size());
    std::string part = trimmed(text.substr(begin, end - begin));
    if (!part.empty()) parts.push_back(std::move(part));
    begin = end + 1;
  }
  return parts;
}

inline std::string joined(const Strings& parts, const std::string& separator) {
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : separator) + part;
  return text;
}

inline std::string spaced(const std::string& digits) {
  std::string text;
  for (const char digit : digits) text += std::string(text.empty() ? "" : " ") + digit;
  return text;
}

inline long long number(const std::string& text) {
  return std::stoll(without(text, " "));
}

inline bool released(const std::string& prompt) {
  for (const char* mark : {"[SEP]", "Evaluate at", "Compute ", "the following list", "the sequence", "Then,"}) {
    if (prompt.find(mark) != std::string::npos) return true;
  }
  return false;
}

inline Strings copy_words(const std::string& prompt) {
  const std::string text = without(prompt, "[SEP]");
  return split(text.substr(text.find(':') == std::string::npos ? text.find(" in ") + 4 : text.find(':') + 1), ' ');
}

inline std::string copy(const std::string& name, const std::string& prompt) {
  Strings words = copy_words(prompt);
  if (name == "copy-rdc") {
    const std::string to = split(prompt, ' ')[3];
    for (std::string& word : words) word = to;
  }
  const std::string once = joined(words, " ");
  if (name == "copy-rsc2x") return once + " " + once;
  if (name == "copy-cmc2x") return once + " [NEXT] " + once;
  return once;
}

inline std::string reverse(const std::string& name, const std::string& prompt) {
  std::string forwards, backwards;
  for (const std::string& word : copy_words(prompt)) {
    forwards += (forwards.empty() ? "" : " ") + word;
    backwards = word + (backwards.empty() ? "" : " ") + backwards;
  }
  if (name == "reverse-mc2x") return backwards + " [NEXT] " + backwards;
  if (name == "reverse-mcrv") return backwards + " [NEXT] " + forwards;
  return backwards;
}

inline Strings addends(const std::string& prompt) {
  return split(without(between(without(prompt, ":"), "Compute", "?"), " "), '+');
}

/// 128 bits hold the sum of two numbers of 38 digits.
inline std::string addition(const std::string& prompt) {
  unsigned __int128 sum = 0;
  for (const std::string& text : addends(prompt)) {
    unsigned __int128 value = 0;
    for (const char digit : text) value = value * 10 + static_cast<unsigned>(digit - '0');
    sum += value;
  }
  std::string digits;
  do {
    digits.insert(digits.begin(), static_cast<char>('0' + static_cast<int>(sum % 10)));
    sum /= 10;
  } while (sum != 0);
  return "The answer is " + spaced(digits) + ".";
}

/// Without markers, and every number from its end on.
inline std::string unhinted(const std::string& text) {
  Strings words;
  for (const std::string& word : split(text, ' ')) {
    if (word.size() < 2 || word[0] != 'h') words.push_back(word);
  }
  return joined(words, " ");
}

inline Strings reversed_addends(const std::string& prompt) {
  Strings numbers = addends(unhinted(prompt));
  for (std::string& number : numbers) std::reverse(number.begin(), number.end());
  return numbers;
}

inline std::string reversed_addition(const std::string& prompt) {
  const Strings numbers = reversed_addends(prompt);
  const std::string sum = addition("Compute: " + numbers[0] + " + " + numbers[1] + " ?");
  std::string digits = without(between(sum, "is ", "."), " ");
  std::reverse(digits.begin(), digits.end());
  const size_t first = prompt.find(" h");
  if (first == std::string::npos) return "The answer is " + spaced(digits) + ".";
  int marker = std::stoi(prompt.substr(first + 2));
  std::string text = "The answer is";
  for (const char digit : digits) text += " h" + std::to_string(marker++) + " " + digit;
  return text + ".";
}

inline Strings terms(const std::string& prompt) {
  std::string body = between(prompt, " in ", "?");
  if (!released(prompt)) body = between(body, "(", ")");
  return split(without(body, " "), '+');
}

inline long long last_digit(long long value) {
  while (value < 0) value += 10;
  while (value > 9) value -= 10;
  return value;
}

inline long long term_value(const std::string& term, long long x) {
  const size_t at = term.find('x');
  long long value = std::stoll(term.substr(0, at));
  for (long long i = std::stoll(term.substr(at + 3)); i > 0; --i) value *= x;
  return value;
}

inline std::string polynomial(const std::string& prompt) {
  const long long x = number(prompt.substr(prompt.find('=') + 1, prompt.find(" in ") - prompt.find('=') - 1));
  long long sum = 0;
  for (const std::string& term : terms(prompt)) sum += term_value(term, x);
  return "The answer is " + std::to_string(last_digit(sum)) + ".";
}

/// The items of a list to be sorted, in its wording.
inline Strings sort_items(const std::string& name, const std::string& prompt) {
  if (released(prompt)) return split(between(prompt, "[", "]"), ',');
  return split(between(prompt, ":", "?"), name == "sort" ? ' ' : ',');
}

inline bool sorts_before(bool symbols, const std::string& a, const std::string& b) {
  static const std::string order =
      " 1 2 3 4 5 6 7 8 9 A B C D E F G H I J K L M N O P Q R S T U V W Z red green blue gold black white house water "
      "river tree stone light city road book door hand ";
  return symbols ? order.find(" " + a + " ") < order.find(" " + b + " ") : number(a) < number(b);
}

inline std::string sort(const std::string& name, const std::string& prompt) {
  Strings items = sort_items(name, prompt);
  const bool symbols = name == "sort" && released(prompt);
  for (size_t round = 0; round < items.size(); ++round) {
    for (size_t i = 1; i < items.size(); ++i) {
      if (sorts_before(symbols, items[i], items[i - 1])) std::swap(items[i], items[i - 1]);
    }
  }
  if (released(prompt)) return "The sorted list is [ " + joined(items, ", ") + " ].";
  return "The answer is " + joined(items, name == "sort" ? " " : ", ") + ".";
}

inline Strings summands(const std::string& prompt) {
  return split(released(prompt) ? between(prompt, ":", ".") : between(prompt, "(", ")"), '+');
}

inline std::string summation(const std::string& prompt) {
  long long sum = 0;
  for (const std::string& digit : summands(prompt)) sum += number(digit);
  return "The answer is " + std::to_string(last_digit(sum)) + (released(prompt) ? " ." : ".");
}

inline std::string bits(const std::string& prompt) {
  return without(without(between(prompt, "[", "]"), " "), ",");
}

inline std::string parity(const std::string& prompt) {
  std::string answer = "Yes";
  for (const char bit : bits(prompt)) {
    if (bit == '1') answer = answer == "Yes" ? "No" : "Yes";
  }
  return "The answer is " + answer + ".";
}

inline Strings clauses(const std::string& prompt) {
  return split(without(between(prompt, "If", "."), " "), released(prompt) ? ',' : ';');
}

/// Goes through the clauses again and again until nothing new comes out.
inline std::string lego(const std::string& prompt) {
  std::map<char, int> values{{'1', 1}};
  for (size_t before = 0; before != values.size();) {
    before = values.size();
    for (const std::string& clause : clauses(prompt)) {
      if (values.count(clause[3]) > 0) values[clause[0]] = (clause[2] == '-' ? -1 : 1) * values[clause[3]];
    }
  }
  return std::string("The answer is ") + (values.at(prompt[prompt.size() - 2]) < 0 ? "-1" : "+1") + ".";
}

/// The answer sentence, or nothing for a task that is checked elsewhere.
inline std::optional<std::string> answer(const std::string& name, const std::string& prompt) {
  if (name.rfind("copy", 0) == 0) return copy(name, prompt);
  if (name.rfind("reverse", 0) == 0) return reverse(name, prompt);
  if (name == "addition") return addition(prompt);
  if (name.rfind("addition-reversed", 0) == 0) return reversed_addition(prompt);
  if (name == "polynomial") return polynomial(prompt);
  if (name.rfind("sort", 0) == 0) return sort(name, prompt);
  if (name == "summation") return summation(prompt);
  if (name == "parity") return parity(prompt);
  if (name == "lego") return lego(prompt);
  return std::nullopt;
}

/// The length of a problem, or nothing.
inline std::optional<size_t> length(const std::string& name, const std::string& prompt) {
  if (name.rfind("copy", 0) == 0 || name.rfind("reverse", 0) == 0) return copy_words(prompt).size();
  if (name == "addition") return std::max(addends(prompt)[0].size(), addends(prompt)[1].size());
  if (name.rfind("addition-reversed", 0) == 0) {
    return std::max(reversed_addends(prompt)[0].size(), reversed_addends(prompt)[1].size());
  }
  if (name == "polynomial") return terms(prompt).size();
  if (name.rfind("sort", 0) == 0) return sort_items(name, prompt).size();
  if (name == "summation") return summands(prompt).size();
  if (name == "parity") return bits(prompt).size();
  if (name == "lego") return clauses(prompt).size();
  return std::nullopt;
}

}  // namespace lengthwise::oracle
