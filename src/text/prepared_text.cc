#include "text/prepared_text.h"

#include <algorithm>
#include <bit>

#include "core/checksum.h"
#include "core/error.h"
#include "core/files.h"

namespace lengthwise {
namespace {

namespace fs = std::filesystem;

// Tokens and starts are little-endian on the disk and are used as they lie there.
static_assert(std::endian::native == std::endian::little);

std::vector<MappedFiles::Part> parts_of(const fs::path& folder, const std::vector<TextFile>& files) {
  std::vector<MappedFiles::Part> parts;
  parts.reserve(files.size());
  for (const TextFile& file : files) parts.push_back({folder / file.file, file.bytes});
  return parts;
}

void check_checksum(const fs::path& folder, const TextFile& file, std::string_view bytes) {
  if (const std::string found = checksum_of(bytes); found != file.checksum) {
    fail("{} is not the file that its manifest.json tells of: its checksum is {}, not {}", shown(folder / file.file),
         found, file.checksum);
  }
}

template <class T>
std::span<const T> as(std::string_view bytes) {
  return {reinterpret_cast<const T*>(bytes.data()), bytes.size() / sizeof(T)};
}

}  // namespace

TextStream::TextStream(const fs::path& folder, const SplitManifest& split, int64_t vocabulary_size)
    : shards_(parts_of(folder, split.shards)),
      starts_file_(parts_of(folder, {split.starts})),
      tokens_(as<TextToken>(shards_.bytes())),
      starts_(as<uint64_t>(starts_file_.bytes())) {
  std::string_view left = shards_.bytes();
  std::string all = split.starts.checksum;
  for (const TextFile& shard : split.shards) {
    check_checksum(folder, shard, left.substr(0, static_cast<size_t>(shard.bytes)));
    left.remove_prefix(static_cast<size_t>(shard.bytes));
    all += shard.checksum;
  }
  check_checksum(folder, split.starts, starts_file_.bytes());
  checksum_ = checksum_of(all);
  // Whoever made the files by other means is told, and not led to read beyond tables.
  bool good = starts_.empty() == tokens_.empty() && (starts_.empty() || starts_.front() == 0);
  for (size_t i = 0; i + 1 < starts_.size(); ++i) good = good && starts_[i] + 1 < starts_[i + 1];
  good = good && (starts_.empty() || starts_.back() + 1 < tokens_.size());
  if (!good) fail("{} is damaged: its documents do not lie one behind the other", shown(folder / split.starts.file));
  if (!tokens_.empty() && *std::max_element(tokens_.begin(), tokens_.end()) >= vocabulary_size) {
    fail("{} has a token beyond the {} of its vocabulary", shown(folder / split.shards.front().file), vocabulary_size);
  }
}

PreparedText open_text(const fs::path& folder) {
  PreparedText text{read_manifest(folder), {}};
  const int64_t vocabulary = std::ssize(text.manifest.texts) + kTextSpecials;
  for (const TextSplit split : kTextSplits) {
    text.streams[static_cast<size_t>(split)] =
        std::make_shared<const TextStream>(folder, text.manifest.of(split), vocabulary);
  }
  return text;
}

}  // namespace lengthwise
