#include "tasks/word_list.h"

#include "core/error.h"

namespace lengthwise {

std::string_view word(uint32_t index) {
  static const std::vector<std::string> words = [] {
    std::vector<std::string> list;
    for (uint32_t i = 1; i <= kMaxWords; ++i) list.push_back(fmt::format("w{}", i));
    return list;
  }();
  return words[index];
}

void append_words(std::string& text, std::span<const uint32_t> words) {
  for (const uint32_t index : words) append_word(text, word(index));
}

void append_words(std::string& text, std::span<const std::string_view> words) {
  for (const std::string_view each : words) append_word(text, each);
}

std::string word_lexicon(uint32_t words) {
  std::string text;
  for (uint32_t i = 0; i < words; ++i) append_word(text, word(i));
  return text;
}

void draw_words(Rng& rng, uint32_t alphabet, int64_t count, std::vector<uint32_t>& words) {
  words.resize(static_cast<size_t>(count));
  for (uint32_t& each : words) each = static_cast<uint32_t>(rng.below(alphabet));
}

std::vector<std::string_view> read_words_to_end(PromptReader& reader) {
  std::vector<std::string_view> words{reader.chunk()};
  while (reader.at_chunk()) words.push_back(reader.chunk());
  // Where no marker ends the prompt, a period may. By itself it is a word.
  if (!reader.accept("[SEP]") && words.back().ends_with('.')) {
    if (words.back().size() > 1) {
      words.back().remove_suffix(1);
    } else if (words.size() > 1) {
      words.pop_back();
    }
  }
  reader.expect_end();
  return words;
}

WordPrompt read_word_prompt(PromptReader& reader) {
  WordPrompt prompt;
  if (reader.accept(":")) {
    prompt.wording = Wording::released;
  } else {
    reader.expect("the following words:");
  }
  prompt.words = read_words_to_end(reader);
  return prompt;
}

void append_word_instruction(std::string& text, std::string_view verb, Wording wording) {
  text += verb;
  text += wording == Wording::printed ? " the following words:" : ":";
}

}  // namespace lengthwise
