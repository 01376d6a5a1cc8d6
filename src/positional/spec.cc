#include "positional/spec.h"

#include <fmt/format.h>

#include "core/error.h"
#include "core/text.h"

namespace lengthwise {
namespace {

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

bool is_name(char c) {
  return is_letter(c) || (c >= '0' && c <= '9') || c == '-' || c == '_';
}

bool is_value(char c) {
  return static_cast<unsigned char>(c) > ' ' && std::string_view("(),+=").find(c) == std::string_view::npos;
}

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  EncodingSpec whole() {
    EncodingSpec spec = sum(0);
    skip_spaces();
    if (at_ < text_.size()) unexpected("the end");
    return spec;
  }

 private:
  EncodingSpec sum(size_t depth) {
    if (depth > kDeepestSpec) fail_at(text_, at_, fmt::format("more than {} brackets in each other", kDeepestSpec));
    EncodingSpec first = item(depth);
    if (!follows('+')) return first;
    EncodingSpec spec{.name = "+", .at = first.at};
    spec.parts.push_back(std::move(first));
    while (follows('+')) {
      ++at_;
      spec.parts.push_back(item(depth));
    }
    return spec;
  }

  EncodingSpec item(size_t depth) {
    skip_spaces();
    EncodingSpec spec{.name = "", .at = at_};
    spec.name = name("the name of an encoding");
    if (!follows('(')) return spec;
    ++at_;
    do {
      argument(spec, depth);
    } while (another());
    return spec;
  }

  /// After an argument: a comma, or the bracket that ends them all.
  bool another() {
    const bool comma = follows(',');
    if (!comma && !follows(')')) unexpected("',' or ')'");
    ++at_;
    return comma;
  }

  void argument(EncodingSpec& spec, size_t depth) {
    skip_spaces();
    const size_t begin = at_;
    // A name is an option if '=' comes behind it, and the beginning of a part otherwise.
    if (at_ < text_.size() && is_letter(text_[at_])) {
      const std::string option = name("");
      if (follows('=')) {
        ++at_;
        add_option(spec, option, begin);
        return;
      }
      at_ = begin;
    }
    spec.parts.push_back(sum(depth + 1));
  }

  void add_option(EncodingSpec& spec, const std::string& option, size_t begin) {
    skip_spaces();
    const size_t value = at_;
    while (at_ < text_.size() && is_value(text_[at_])) ++at_;
    if (at_ == value) unexpected(fmt::format("a value of {}", option));
    for (const SpecOption& other : spec.options) {
      if (other.name == option) fail_at(text_, begin, fmt::format("{} is given twice", option));
    }
    spec.options.push_back({option, std::string(text_.substr(value, at_ - value)), begin});
  }

  std::string name(const std::string& wanted) {
    if (at_ >= text_.size() || !is_letter(text_[at_])) unexpected(wanted);
    std::string name;
    for (; at_ < text_.size() && is_name(text_[at_]); ++at_) {
      const char c = text_[at_];
      name += c == '_' ? '-' : c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    }
    return name;
  }

  bool follows(char c) {
    skip_spaces();
    return at_ < text_.size() && text_[at_] == c;
  }

  void skip_spaces() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }

  [[noreturn]] void unexpected(const std::string& wanted) const {
    const std::string found = at_ < text_.size() ? fmt::format("'{}'", excerpt(text_.substr(at_, 1))) : "the end";
    fail_at(text_, at_, fmt::format("{} is expected there, not {}", wanted, found));
  }

  std::string_view text_;
  size_t at_ = 0;
};

}  // namespace

void fail_at(std::string_view text, size_t at, const std::string& what) {
  fail("the encoding '{}', character {}: {}", excerpt(text), at + 1, what);
}

EncodingSpec parse_spec(std::string_view text) {
  if (text.size() > kLongestSpec)
    fail("the name of an encoding has {} characters, more than {}", text.size(), kLongestSpec);
  return Parser(text).whole();
}

std::string to_text(const EncodingSpec& spec) {
  std::vector<std::string> parts;
  for (const EncodingSpec& part : spec.parts) parts.push_back(to_text(part));
  if (spec.is_sum()) return join(parts, "+");
  for (const SpecOption& option : spec.options) parts.push_back(option.name + "=" + option.value);
  return parts.empty() ? spec.name : fmt::format("{}({})", spec.name, join(parts, ","));
}

}  // namespace lengthwise
