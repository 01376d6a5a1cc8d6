#pragma once
/// The language that names encodings and what is made of them.
///
///     rope                        one encoding
///     rope(fraction=0.5)          with an option
///     alibi+ssmax                 both at once
///     layers(rope,rope,nope)      one after the other, layer by layer
///     randomized(t5,max=512)      an encoding changed by another
///
///     sum   := item ('+' item)*
///     item  := name [ '(' argument (',' argument)* ')' ]
///     argument := name '=' value | sum
///
/// Names are letters, digits and hyphens, beginning with a letter; capitals are read as small letters. A value is any
/// text without spaces and without ( ) , + =. Spaces between words mean nothing. Whether a name exists and takes these
/// options is not decided here.
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace lengthwise {

struct SpecOption {
  std::string name, value;
  size_t at = 0;  ///< where the name stands in the text, from 0

  bool operator==(const SpecOption& other) const { return name == other.name && value == other.value; }
};

/// An item with its arguments, or a sum of items (then its name is "+").
struct EncodingSpec {
  std::string name;
  std::vector<SpecOption> options = {};
  std::vector<EncodingSpec> parts = {};
  size_t at = 0;  ///< where it begins in the text, from 0

  bool is_sum() const { return name == "+"; }
  bool operator==(const EncodingSpec& other) const {
    return name == other.name && options == other.options && parts == other.parts;
  }
};

inline constexpr size_t kDeepestSpec = 8;
inline constexpr size_t kLongestSpec = 1000;

/// UserError that points at the character where the text stops making sense.
EncodingSpec parse_spec(std::string_view text);

/// The shortest text with this meaning, parts before options: what `parse_spec` reads back as the same.
std::string to_text(const EncodingSpec& spec);

/// A UserError about the text at a character: the text, a caret's place in words, and what is wrong.
[[noreturn]] void fail_at(std::string_view text, size_t at, const std::string& what);

}  // namespace lengthwise
