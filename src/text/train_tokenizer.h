#pragma once
/// A subword vocabulary made from text by SentencePiece (Kudo & Richardson 2018): unigram model, no normalization, and
/// a token for every byte, so that every text has tokens and these give it back as it was.
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "core/progress.h"

namespace lengthwise {

struct TokenizerOptions {
  int64_t size = 8192;      ///< tokens, the 256 bytes included
  int64_t lines = 200'000;  ///< the model is made from so many lines, drawn from all of them
  int64_t seed = 1;         ///< of that draw
};

/// Writes the model file. UserError where the program was built without SentencePiece, where the size does not fit the
/// text, or where the file exists already.
void train_tokenizer(const std::vector<std::filesystem::path>& files, const TokenizerOptions& options,
                     const std::filesystem::path& model, Progress& progress);

}  // namespace lengthwise
