#include "positional/entry.h"

#include <charconv>
#include <cmath>

#include "core/error.h"

namespace lengthwise {
namespace {

/// Whether all of the text is a number of this type.
template <class Number>
bool reads(const std::string& text, Number& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

}  // namespace

const EncodingOption& EncodingArguments::find(std::string_view option) const {
  for (const EncodingOption& known : entry_.options) {
    if (known.name == option) return known;
  }
  LENGTHWISE_CHECK(false, "the encoding {} has no option {}", entry_.info.name, option);
}

std::string EncodingArguments::text(std::string_view option) const {
  for (const SpecOption& given : spec_.options) {
    if (given.name == option) return given.value;
  }
  return find(option).fallback;
}

void EncodingArguments::refuse(std::string_view option, const std::string& must_be) const {
  const std::string& flag = find(option).flag;
  fail("the encoding {}: {}{} must be {}, not {}", entry_.info.name, option, flag.empty() ? "" : " (--" + flag + ")",
       must_be, text(option));
}

double EncodingArguments::number(std::string_view option) const {
  double value = 0;
  if (!reads(text(option), value) || !std::isfinite(value)) refuse(option, "a number");
  return value;
}

int64_t EncodingArguments::whole(std::string_view option) const {
  int64_t value = 0;
  if (!reads(text(option), value)) refuse(option, "a whole number");
  return value;
}

double EncodingArguments::number(std::string_view option, double low, double high) const {
  const double value = number(option);
  if (!(value >= low && value <= high)) refuse(option, fmt::format("between {} and {}", low, high));
  return value;
}

int64_t EncodingArguments::whole(std::string_view option, int64_t low, int64_t high) const {
  const int64_t value = whole(option);
  if (value < low || value > high) refuse(option, fmt::format("between {} and {}", low, high));
  return value;
}

}  // namespace lengthwise
