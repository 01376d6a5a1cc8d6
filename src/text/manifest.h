#pragma once
/// manifest.json of a folder of prepared text (docs/formats.md): what was read, how it was cut into tokens, and which
/// files hold them.
#include <array>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "text/documents.h"

namespace lengthwise {

enum class TextSplit { train, validation, test };
inline constexpr std::array kTextSplits = {TextSplit::train, TextSplit::validation, TextSplit::test};
const char* name_of(TextSplit split);

/// A file of the folder.
struct TextFile {
  std::string file;
  int64_t bytes = 0;
  std::string checksum;
};

struct SplitManifest {
  std::vector<TextSource> sources;
  int64_t documents = 0;
  int64_t bytes = 0;             ///< of text
  int64_t tokens = 0;            ///< `<bos>` and `<eos>` of every document included
  int64_t longest_document = 0;  ///< in tokens
  TextFile starts;               ///< [document] uint64: the token that each begins with
  std::vector<TextFile> shards;  ///< [token] uint16; all but the last have kShardTokens
};

struct TextManifest {
  std::string tokenizer;           ///< Tokenizer::kind
  std::string tokenizer_checksum;  ///< Tokenizer::checksum
  std::vector<std::string> texts;  ///< Tokenizer::texts
  std::array<SplitManifest, 3> splits;

  SplitManifest& of(TextSplit split) { return splits[static_cast<size_t>(split)]; }
  const SplitManifest& of(TextSplit split) const { return splits[static_cast<size_t>(split)]; }
};

/// 128 MiB: a whole number of pages, so that shards lie one behind the other when they are mapped.
inline constexpr int64_t kShardTokens = int64_t{1} << 26;

/// As the file holds it, and back. UserError that begins with `where` for a text that is no manifest, is damaged, of a
/// later version, or does not fit together.
std::string manifest_text(const TextManifest& manifest);
TextManifest parse_manifest(std::string_view text, const std::string& where);

void write_manifest(const std::filesystem::path& folder, const TextManifest& manifest);

/// UserError as above, and where the folder is not one of prepared text. The files it names are not looked at.
TextManifest read_manifest(const std::filesystem::path& folder);

}  // namespace lengthwise
