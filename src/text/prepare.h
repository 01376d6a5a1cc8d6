#pragma once
/// From files of text to a folder of tokens (docs/formats.md).
#include <filesystem>
#include <vector>

#include "core/progress.h"
#include "text/manifest.h"
#include "text/tokenizer.h"

namespace lengthwise {

struct PrepareOptions {
  std::vector<std::filesystem::path> train;
  std::vector<std::filesystem::path> validation;
  std::vector<std::filesystem::path> test;
  /// Where there are no files for validation and none for test: the last part of the text, as large as this share of
  /// it, is for the test, and as much before it for validation, cut at ends of lines.
  double hold_out = 0.05;
};

/// Reads every file once (twice where parts are held out), in pieces: memory does not grow with the text. The folder
/// appears under its name when it is complete. UserErrors as read_documents has them.
TextManifest prepare_text(const PrepareOptions& options, const Tokenizer& tokenizer,
                          const std::filesystem::path& folder, Progress& progress);

}  // namespace lengthwise
