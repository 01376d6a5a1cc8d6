#pragma once
/// The words `w1`, `w2`, ... that copying and reversing work on.
///
/// The authors took their symbols from a tokenizer's vocabulary; any fixed set of symbols that are one token each makes
/// the same task.
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/rng.h"
#include "tasks/prompt_reader.h"
#include "tasks/style.h"

namespace lengthwise {

inline constexpr uint32_t kMaxWords = 6052;

/// Word 0 is `w1`. index < kMaxWords.
std::string_view word(uint32_t index);

/// Appends a word, after a space unless the text is empty.
inline void append_word(std::string& text, std::string_view word) {
  if (!text.empty()) text += ' ';
  text += word;
}

void append_words(std::string& text, std::span<const uint32_t> words);
void append_words(std::string& text, std::span<const std::string_view> words);

/// `w1 w2 ... wN`, for Task::lexicon().
std::string word_lexicon(uint32_t words);

/// Fills `words` with uniform draws from the first `alphabet` words.
void draw_words(Rng& rng, uint32_t alphabet, int64_t count, std::vector<uint32_t>& words);

/// Reads what follows `Copy` or `Reverse`: `: w1 w2 [SEP]` is the released wording, ` the following words: w1 w2` the
/// printed one.
struct WordPrompt {
  Wording wording = Wording::printed;
  std::vector<std::string_view> words;
};
WordPrompt read_word_prompt(PromptReader& reader);

/// Reads one or more words up to `[SEP]` or the end of the prompt, or up to a period there where no `[SEP]` follows.
/// Whatever stands between white space is a word, as the authors' symbols do: `3`, `x`, `%`, `>`.
std::vector<std::string_view> read_words_to_end(PromptReader& reader);

/// Appends `VERB:` or `VERB the following words:`.
void append_word_instruction(std::string& text, std::string_view verb, Wording wording);

}  // namespace lengthwise
