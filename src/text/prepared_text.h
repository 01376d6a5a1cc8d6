#pragma once
/// A folder of prepared text, mapped into memory and held against its manifest.
#include <memory>
#include <span>

#include "core/mapped_files.h"
#include "text/manifest.h"
#include "text/tokenizer.h"

namespace lengthwise {

/// The tokens of one split, its documents one behind the other.
class TextStream {
 public:
  /// UserError that names the file when one is missing, or its size or checksum is not the manifest's.
  TextStream(const std::filesystem::path& folder, const SplitManifest& split, int64_t vocabulary_size);

  std::span<const TextToken> tokens() const { return tokens_; }
  int64_t documents() const { return std::ssize(starts_); }
  /// The document's tokens, `<bos>` and `<eos>` included, as a range of `tokens()`.
  int64_t begin(int64_t document) const { return static_cast<int64_t>(starts_[static_cast<size_t>(document)]); }
  int64_t end(int64_t document) const { return document + 1 < documents() ? begin(document + 1) : std::ssize(tokens_); }
  const std::string& checksum() const { return checksum_; }  ///< of tokens and starts together

 private:
  MappedFiles shards_;
  MappedFiles starts_file_;
  std::span<const TextToken> tokens_;
  std::span<const uint64_t> starts_;
  std::string checksum_;
};

struct PreparedText {
  TextManifest manifest;
  std::array<std::shared_ptr<const TextStream>, 3> streams;

  const std::shared_ptr<const TextStream>& stream(TextSplit split) const { return streams[static_cast<size_t>(split)]; }
};

PreparedText open_text(const std::filesystem::path& folder);

}  // namespace lengthwise
