#pragma once
/// Prepared text of a few letters.
#include <string>
#include <vector>

#include "tests/core/temporary_folder.h"
#include "text/prepare.h"
#include "text/prepared_text.h"

namespace lengthwise {

/// The documents in one file.
inline std::string with_form_feeds(const std::vector<std::string>& documents) {
  std::string text;
  for (const std::string& document : documents) text += (text.empty() ? "" : "\f") + document;
  return text;
}

/// Prepares FOLDER/NAME by bytes, or the tokenizer given.
inline std::filesystem::path make_text(const TemporaryFolder& folder, const std::string& name,
                                       const std::vector<std::string>& train,
                                       const std::vector<std::string>& validation, const std::vector<std::string>& test,
                                       const Tokenizer& tokenizer = *make_byte_tokenizer()) {
  PrepareOptions options;
  options.hold_out = 0;
  const auto write = [&](const char* split, const std::vector<std::string>& documents,
                         std::vector<std::filesystem::path>& paths) {
    if (documents.empty()) return;
    paths.push_back(folder / (name + "-" + split + ".txt"));
    write_file(paths.back(), with_form_feeds(documents));
  };
  write("train", train, options.train);
  write("validation", validation, options.validation);
  write("test", test, options.test);
  Progress quiet(Progress::Mode::quiet);
  prepare_text(options, tokenizer, folder / name, quiet);
  return folder / name;
}

/// Letters from a on, as many as `letters`, that depend on the seed.
inline std::string letters(size_t size, uint32_t seed, int letters = 26) {
  std::string text;
  for (uint32_t state = seed; text.size() < size;) {
    state = 1664525u * state + 1013904223u;
    text += static_cast<char>('a' + static_cast<int>((state >> 16) % static_cast<uint32_t>(letters)));
  }
  return text;
}

}  // namespace lengthwise
