#include "tasks/style.h"

#include "core/error.h"
#include "core/text.h"

namespace lengthwise {
namespace {

struct Component {
  const char* name;
  char letter;
  bool Scratchpad::*flag;
};

constexpr Component kComponents[] = {{"input", 'i', &Scratchpad::input},
                                     {"computation", 'c', &Scratchpad::computation},
                                     {"output", 'o', &Scratchpad::output},
                                     {"variables", 'v', &Scratchpad::variables},
                                     {"remaining", 'r', &Scratchpad::remaining}};

std::string to_flags(const Scratchpad& format) {
  std::string text;
  for (const Component& component : kComponents) {
    if (!text.empty()) text += '_';
    text += component.letter;
    text += format.*component.flag ? '1' : '0';
  }
  return text;
}

bool parse_flags(std::string_view text, Scratchpad& format) {
  if (text.size() != 14) return false;
  Scratchpad parsed;
  for (const Component& component : kComponents) {
    if (text[0] != component.letter || (text[1] != '0' && text[1] != '1')) return false;
    parsed.*component.flag = text[1] == '1';
    if (text.size() > 2 && text[2] != '_') return false;
    text.remove_prefix(std::min<size_t>(3, text.size()));
  }
  format = parsed;
  return true;
}

std::vector<NamedScratchpad> make_named() {
  const Scratchpad full{true, true, true, true, true};
  std::vector<NamedScratchpad> formats{{"none", {}}, {"full", full}};
  Scratchpad minimal;
  minimal.computation = minimal.output = true;
  formats.push_back({"minimal", minimal});
  for (const Component& component : kComponents) {
    Scratchpad without = full;
    without.*component.flag = false;
    formats.push_back({std::string("no-") + component.name, without});
  }
  return formats;
}

}  // namespace

std::string to_text(Wording wording) {
  return wording == Wording::printed ? "printed" : "released";
}

void from_text(std::string_view text, Wording& wording) {
  if (text == "printed") {
    wording = Wording::printed;
  } else if (text == "released") {
    wording = Wording::released;
  } else {
    fail("'{}' is not a wording; there are printed and released{}", excerpt(text),
         did_you_mean(text, {"printed", "released"}));
  }
}

const std::vector<NamedScratchpad>& named_scratchpads() {
  static const std::vector<NamedScratchpad> formats = make_named();
  return formats;
}

std::string to_text(const Scratchpad& format) {
  for (const NamedScratchpad& named : named_scratchpads()) {
    if (named.format == format) return named.name;
  }
  return to_flags(format);
}

void from_text(std::string_view text, Scratchpad& format) {
  std::vector<std::string> names;
  for (const NamedScratchpad& named : named_scratchpads()) {
    names.push_back(named.name);
    if (named.name == text) {
      format = named.format;
      return;
    }
  }
  if (parse_flags(text, format)) return;
  Scratchpad parsed;
  std::string_view left = text;
  while (!left.empty()) {
    const size_t comma = left.find(',');
    const std::string_view name = trim(left.substr(0, comma));
    bool found = false;
    for (const Component& component : kComponents) {
      if (name != component.name) continue;
      parsed.*component.flag = found = true;
    }
    if (!found) {
      fail("'{}' is not a scratchpad; write one of {}, components such as input,output, or i1_c1_o1_v0_r1{}",
           excerpt(text), join(names, ", "), did_you_mean(text, names));
    }
    left = comma == std::string_view::npos ? "" : left.substr(comma + 1);
  }
  format = parsed;
}

}  // namespace lengthwise
