#include "positional/named.h"

#include <algorithm>
#include <charconv>

#include "core/error.h"
#include "core/text.h"
#include "positional/registry.h"

namespace lengthwise {
namespace {

/// Numbers in their shortest form, so that 0.50 and 5e-1 are one value.
std::string shortest(const std::string& value) {
  double number = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (error != std::errc() || end != value.data() + value.size()) return value;
  return fmt::format("{}", number);
}

class Reader {
 public:
  Reader(std::string_view text, const EncodingFlags& flags) : text_(text), flags_(flags) {}

  EncodingSpec read(const EncodingSpec& spec) const { return spec.is_sum() ? sum(spec) : item(spec); }

 private:
  EncodingSpec item(const EncodingSpec& spec) const {
    const EncodingEntry* entry = known_entry(spec.name);
    if (entry == nullptr) unknown(spec);
    EncodingSpec result{.name = entry->info.name, .at = spec.at};
    for (const EncodingSpec& part : spec.parts) result.parts.push_back(read(part));
    if (result.parts.size() < entry->least_parts || result.parts.size() > entry->most_parts) {
      fail_at(text_, spec.at,
              entry->most_parts == 0
                  ? fmt::format("{} is made of no other encodings", result.name)
                  : fmt::format("{} is made of other encodings, as in {}(rope)", result.name, result.name));
    }
    for (const SpecOption& given : spec.options) check_known(*entry, given);
    for (const EncodingOption& option : entry->options) {
      const std::string value = shortest(value_of(option, spec));
      if (value != shortest(option.fallback)) result.options.push_back({option.name, value, spec.at});
    }
    return result;
  }

  EncodingSpec sum(const EncodingSpec& spec) const {
    EncodingSpec result{.name = "+", .at = spec.at};
    for (const EncodingSpec& part : spec.parts) {
      EncodingSpec read_part = read(part);
      // Nothing is added by what states nothing.
      if (read_part.name != "nope") result.parts.push_back(std::move(read_part));
    }
    if (result.parts.empty()) return {.name = "nope", .at = spec.at};
    if (result.parts.size() == 1) return result.parts.front();
    const auto place = [](const EncodingSpec& part) {
      const auto all = encodings();
      return std::ranges::find(all, known_entry(part.name)) - all.begin();
    };
    std::ranges::stable_sort(result.parts, {}, place);
    for (size_t i = 1; i < result.parts.size(); ++i) {
      const EncodingSpec& part = result.parts[i];
      if (part.name == result.parts[i - 1].name) {
        fail_at(text_, std::max(part.at, result.parts[i - 1].at), fmt::format("{} is in the sum twice", part.name));
      }
    }
    return result;
  }

  std::string value_of(const EncodingOption& option, const EncodingSpec& spec) const {
    for (const SpecOption& given : spec.options) {
      if (given.name == option.name) return given.value;
    }
    for (const auto& [flag, value] : flags_) {
      if (flag == option.flag) return value;
    }
    return option.fallback;
  }

  void check_known(const EncodingEntry& entry, const SpecOption& given) const {
    std::vector<std::string> names;
    for (const EncodingOption& option : entry.options) {
      if (option.name == given.name) return;
      names.push_back(option.name);
    }
    fail_at(text_, given.at,
            fmt::format("{} has no option '{}'{}{}", entry.info.name, given.name,
                        names.empty() ? "" : "; it has " + join(names, ", "), did_you_mean(given.name, names)));
  }

  [[noreturn]] void unknown(const EncodingSpec& spec) const {
    if (text_ == spec.name) find_encoding(spec.name);
    std::vector<std::string> names;
    for (const EncodingEntry* entry : encodings()) names.push_back(entry->info.name);
    fail_at(text_, spec.at,
            fmt::format("there is no encoding '{}' (`lengthwise encodings` lists them){}", spec.name,
                        did_you_mean(spec.name, names)));
  }

  std::string_view text_;
  const EncodingFlags& flags_;
};

/// In brackets where it would be misread beside others.
std::string as_part(const std::string& label) {
  const bool joined = label.find(" + ") != std::string::npos || label.find(" / ") != std::string::npos;
  return joined ? "(" + label + ")" : label;
}

/// Encodings one after the other, equal neighbours counted: `RoPE ×3 / NoPE`.
std::string in_turn(const std::vector<std::string>& labels) {
  std::vector<std::string> groups;
  for (size_t begin = 0; begin < labels.size();) {
    size_t end = begin + 1;
    while (end < labels.size() && labels[end] == labels[begin]) ++end;
    groups.push_back(end - begin == 1 ? labels[begin] : fmt::format("{} ×{}", labels[begin], end - begin));
    begin = end;
  }
  return join(groups, " / ");
}

/// `RoPE fraction=1`, `ALiBi + SSMax`, `RoPE ×3 / NoPE`, `Randomized (T5) max=512`.
std::string label_of(const EncodingSpec& spec, const std::vector<std::string>& parts) {
  if (spec.is_sum()) return join(parts, " + ");
  const EncodingEntry& entry = find_encoding(spec.name);
  std::string label = entry.info.label;
  if (entry.most_parts > 1) {
    label = in_turn(parts);
  } else if (!parts.empty()) {
    label += parts.front().starts_with("(") ? " " + parts.front() : " (" + parts.front() + ")";
  }
  for (const SpecOption& option : spec.options) label += fmt::format(" {}={}", option.name, option.value);
  return label;
}

}  // namespace

EncodingSpec read_encoding(std::string_view text, const EncodingFlags& flags) {
  return Reader(text, flags).read(parse_spec(text));
}

EncodingInfo describe_encoding(const EncodingSpec& spec) {
  if (!spec.is_sum() && spec.parts.empty() && spec.options.empty()) return find_encoding(spec.name).info;
  EncodingInfo info;
  if (!spec.is_sum()) info = find_encoding(spec.name).info;
  std::vector<std::string> labels, learned;
  for (const EncodingSpec& part : spec.parts) {
    const EncodingInfo of_part = describe_encoding(part);
    labels.push_back(as_part(of_part.label));
    if (of_part.learned != "none") learned.push_back(fmt::format("{}: {}", of_part.name, of_part.learned));
    info.translation_invariant = info.translation_invariant && of_part.translation_invariant;
    info.absolute = info.absolute || (of_part.absolute && !info.own_positions);
  }
  if (!learned.empty()) info.learned = join(learned, "; ");
  if (spec.is_sum()) {
    info.family = describe_encoding(spec.parts.front()).family;
    info.formula = "all of its parts at once";
  }
  info.label = label_of(spec, labels);
  info.name = to_text(spec);
  return info;
}

std::unique_ptr<Encoding> make_encoding(const EncodingSpec& spec, const EncodingShape& shape,
                                        EncodingParameters parameters) {
  if (spec.is_sum()) return make_sum(spec, shape, parameters);
  const EncodingEntry& entry = find_encoding(spec.name);
  return entry.make(EncodingArguments(entry, spec), shape, parameters);
}

bool adds_to_embeddings(const EncodingSpec& spec, const EncodingShape& shape) {
  EncodingShape here = shape;
  here.device = at::kCPU;
  Parameters parameters;
  const std::unique_ptr<Encoding> made = make_encoding(spec, here, {parameters, "encoding."});
  parameters.allocate_zeros(here.type);
  return (kinds_of(*made, here) & kAddition) != 0;
}

}  // namespace lengthwise
