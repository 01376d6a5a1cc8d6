#include "tasks/pcfg_language.h"

#include <algorithm>
#include <array>

#include "core/error.h"

namespace lengthwise {
namespace {

constexpr int kNumbers = 20;
constexpr std::array<std::string_view, pcfg::end - kPcfgSymbols> kNames{
    "copy",    "reverse",      "shift",         "echo", "swap_first_last", "repeat", "append",
    "prepend", "remove_first", "remove_second", ","};

/// A word and a space after it in 16 bytes, so that appending one is a copy of fixed size.
struct Entry {
  std::array<char, 16> text{};
  uint8_t size = 0;  ///< with the space
};

std::array<Entry, pcfg::end> make_entries() {
  std::array<Entry, pcfg::end> entries;
  for (size_t word = 0; word < entries.size(); ++word) {
    const std::string text = word < kPcfgSymbols
                                 ? fmt::format("{}{} ", static_cast<char>('A' + word / kNumbers), word % kNumbers + 1)
                                 : fmt::format("{} ", kNames[word - kPcfgSymbols]);
    LENGTHWISE_CHECK(text.size() <= entries[word].text.size(), "'{}' is too long", text);
    std::copy(text.begin(), text.end(), entries[word].text.begin());
    entries[word].size = static_cast<uint8_t>(text.size());
  }
  return entries;
}

const std::array<Entry, pcfg::end>& entries() {
  static const std::array<Entry, pcfg::end> all = make_entries();
  return all;
}

}  // namespace

std::string_view pcfg_text(PcfgWord word) {
  const Entry& entry = entries().at(word);
  return {entry.text.data(), entry.size - size_t{1}};
}

std::optional<PcfgWord> find_pcfg_word(std::string_view text) {
  if (text.size() >= 2 && text.size() <= 3 && text[0] >= 'A' && text[0] <= 'Z') {
    int number = 0;
    for (const char c : text.substr(1)) {
      if (c < '0' || c > '9' || (c == '0' && number == 0)) return std::nullopt;
      number = number * 10 + (c - '0');
    }
    if (number > kNumbers) return std::nullopt;
    return static_cast<PcfgWord>((text[0] - 'A') * kNumbers + number - 1);
  }
  for (size_t i = 0; i < kNames.size(); ++i) {
    if (kNames[i] == text) return static_cast<PcfgWord>(kPcfgSymbols + i);
  }
  return std::nullopt;
}

void append_pcfg(std::string& text, std::span<const PcfgWord> words) {
  if (words.empty()) return;
  const auto& all = entries();
  const size_t begin = text.size();
  text.resize(begin + words.size() * sizeof(Entry::text));
  char* at = text.data() + begin;
  for (const PcfgWord word : words) {
    const Entry& entry = all[word];
    std::copy(entry.text.begin(), entry.text.end(), at);
    at += entry.size;
  }
  text.resize(static_cast<size_t>(at - text.data()) - 1);
}

void append_pcfg_prompt(std::string& text, std::span<const PcfgWord> source, Wording wording) {
  if (wording == Wording::released) text += "Solve: ";
  append_pcfg(text, source);
  if (wording == Wording::released) text += "[SEP]";
}

}  // namespace lengthwise
