#pragma once
/// An encoding in the registry: what it says of itself, its options, and how it is made. One object in its file.
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "positional/encoding.h"
#include "positional/spec.h"

namespace lengthwise {

struct EncodingInfo {
  std::string name;
  std::string label;                  ///< in prose and charts: `RoPE`
  std::string family;                 ///< none, embedding, bias, rotation, content, temperature, positions, modifier
  std::string formula;                ///< one line
  std::string paper;                  ///< authors, year, arXiv number
  std::string learned = "none";       ///< which parameters it learns
  bool translation_invariant = true;  ///< adding a constant to every position changes nothing
  bool absolute = false;              ///< uses the positions themselves: random offsets in training make sense
  bool own_positions = false;         ///< of a modifier: what it is made of sees positions by a rule, not the index
  std::vector<std::string> aliases = {};  ///< other names that people use, lower case with hyphens
};

struct EncodingOption {
  std::string name;
  std::string fallback;   ///< its value where none is given, as text; never changed once runs have it
  std::string help;       ///< one line
  std::string flag = {};  ///< the option of the command line that stands for it in older runs, without dashes
};

class EncodingArguments;

struct EncodingEntry {
  EncodingInfo info;
  std::vector<EncodingOption> options = {};
  /// Makes the encoding and adds its parameters; refuses options that cannot be.
  std::unique_ptr<Encoding> (*make)(const EncodingArguments& arguments, const EncodingShape& shape,
                                    EncodingParameters parameters);
  /// How many encodings it is made of; a modifier has some.
  size_t least_parts = 0, most_parts = 0;
};

/// What stands behind an encoding's name in brackets.
class EncodingArguments {
 public:
  EncodingArguments(const EncodingEntry& entry, const EncodingSpec& spec) : entry_(entry), spec_(spec) {}

  std::string text(std::string_view option) const;
  double number(std::string_view option) const;
  int64_t whole(std::string_view option) const;

  /// number or whole, refused where it is not between `low` and `high`.
  double number(std::string_view option, double low, double high) const;
  int64_t whole(std::string_view option, int64_t low, int64_t high) const;

  /// A UserError about an option: "rope: fraction must be ..., not 2".
  [[noreturn]] void refuse(std::string_view option, const std::string& must_be) const;

  const std::vector<EncodingSpec>& parts() const { return spec_.parts; }

 private:
  const EncodingOption& find(std::string_view option) const;

  const EncodingEntry& entry_;
  const EncodingSpec& spec_;
};

}  // namespace lengthwise
