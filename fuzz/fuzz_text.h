#pragma once
/// One input of the fuzz target, in the form libFuzzer calls it.
///
/// Byte 0 chooses what reads the rest: 0 a line of JSONL, 1 a vocabulary.json, 2 a CSV file of results, 3 the manifest
/// of prepared text, 4 a perplexity.json, anything else a task's solver; for a solver, the five low bits of byte 1 are
/// the components of the scratchpad.
///
/// Nothing may come out but a UserError of one line. Whatever is accepted must also survive a second pass: a line, a
/// vocabulary, a table or a manifest is written and read again, sums of a perplexity.json add up, a prompt and its
/// target are encoded and decoded where the task's vocabulary has their words.
#include <cstddef>
#include <cstdint>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace lengthwise::fuzz {

inline constexpr uint8_t kJsonl = 0;
inline constexpr uint8_t kVocabulary = 1;
inline constexpr uint8_t kScores = 2;
inline constexpr uint8_t kManifest = 3;
inline constexpr uint8_t kPerplexity = 4;
inline constexpr uint8_t kFirstTask = 5;

}  // namespace lengthwise::fuzz
