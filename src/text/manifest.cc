#include "text/manifest.h"

#include "core/error.h"
#include "core/files.h"
#include "core/json.h"
#include "core/text.h"
#include "core/version.h"
#include "text/tokenizer.h"

namespace lengthwise {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFormat = "lengthwise-text";
constexpr int64_t kFormatVersion = 1;
constexpr int64_t kMost = int64_t{1} << 44;

Json file_json(const TextFile& file) {
  return {{"file", file.file}, {"bytes", file.bytes}, {"checksum", file.checksum}};
}

TextFile read_file_json(const JsonObject& json) {
  TextFile file{json.text("file"), json.whole("bytes", 0, kMost), json.text("checksum")};
  if (file.file.empty() || fs::path(file.file).filename() != file.file || file.file == "..") {
    json.fail_at("file", "the name of a file in the same folder");
  }
  return file;
}

Json split_json(const SplitManifest& split) {
  Json sources = Json::array();
  for (const TextSource& source : split.sources) {
    sources.push_back({{"file", source.file},
                       {"bytes", source.bytes},
                       {"checksum", source.checksum},
                       {"text_bytes", source.text_bytes}});
  }
  Json shards = Json::array();
  for (const TextFile& shard : split.shards) shards.push_back(file_json(shard));
  return {{"documents", split.documents},
          {"bytes", split.bytes},
          {"tokens", split.tokens},
          {"longest_document", split.longest_document},
          {"sources", sources},
          {"starts", file_json(split.starts)},
          {"shards", shards}};
}

SplitManifest read_split(const JsonObject& json) {
  SplitManifest split;
  split.documents = json.whole("documents", 0, kMost);
  split.bytes = json.whole("bytes", 0, kMost);
  split.tokens = json.whole("tokens", 0, kMost);
  split.longest_document = json.whole("longest_document", 0, split.tokens);
  for (const Json& entry : json.array("sources")) {
    const JsonObject source(entry, json.where());
    split.sources.push_back({source.text("file"), source.whole("bytes", 0, kMost), source.text("checksum"),
                             source.whole("text_bytes", 0, kMost)});
  }
  split.starts = read_file_json(json.object("starts"));
  int64_t tokens = 0;
  bool whole = true;  // only the last shard may be shorter than the others
  for (const Json& entry : json.array("shards")) {
    const TextFile& shard = split.shards.emplace_back(read_file_json(JsonObject(entry, json.where())));
    const auto held = shard.bytes / static_cast<int64_t>(sizeof(TextToken));
    if (!whole || shard.bytes % 2 != 0 || held == 0 || held > kShardTokens) tokens = -kMost;
    whole = held == kShardTokens;
    tokens += held;
  }
  if (tokens != split.tokens || split.starts.bytes != split.documents * static_cast<int64_t>(sizeof(uint64_t))) {
    fail("{} is damaged: its sizes do not fit its {} tokens in {} documents", json.where(), split.tokens,
         split.documents);
  }
  return split;
}

}  // namespace

const char* name_of(TextSplit split) {
  return split == TextSplit::train ? "train" : split == TextSplit::validation ? "validation" : "test";
}

std::string manifest_text(const TextManifest& manifest) {
  Json json = {{"format", kFormat}, {"version", kFormatVersion}, {"lengthwise", kVersion}};
  Json tokenizer = {{"kind", manifest.tokenizer}};
  // Bytes are known; of other tokenizers the texts must come along, since nobody may have the model later.
  if (manifest.tokenizer != "bytes") {
    tokenizer["checksum"] = manifest.tokenizer_checksum;
    tokenizer["texts"] = manifest.texts;
  }
  json["tokenizer"] = std::move(tokenizer);
  for (const TextSplit split : kTextSplits) json["splits"][name_of(split)] = split_json(manifest.of(split));
  seal(json);
  return json_text(json, 1) + "\n";
}

void write_manifest(const fs::path& folder, const TextManifest& manifest) {
  write_file(folder / "manifest.json", manifest_text(manifest));
}

TextManifest parse_manifest(std::string_view text, const std::string& where) {
  const Json json = parse_json(text, where);
  const JsonObject object(json, where);
  if (object.find_text("format") != kFormat) fail("{} is not the manifest of prepared text", where);
  if (const int64_t version = object.whole("version"); version != kFormatVersion) {
    fail("{} has the format version {}; this is lengthwise {}, which reads {}", where, version, kVersion,
         kFormatVersion);
  }
  check_seal(json, where);
  TextManifest manifest;
  const JsonObject tokenizer = object.object("tokenizer");
  manifest.tokenizer = tokenizer.text("kind");
  if (manifest.tokenizer == "bytes") {
    manifest.texts = make_byte_tokenizer()->texts();
  } else if (manifest.tokenizer == "sentencepiece") {
    manifest.tokenizer_checksum = tokenizer.text("checksum");
    for (const Json& token : tokenizer.array("texts")) {
      if (!token.is_string()) tokenizer.fail_at("texts", "a list of texts");
      manifest.texts.push_back(token.get_ref<const std::string&>());
    }
  } else {
    fail("{}: the tokenizer '{}' is not known; there are bytes and sentencepiece", where, excerpt(manifest.tokenizer));
  }
  if (std::ssize(manifest.texts) + kTextSpecials > kMostTextTokens) {
    fail("{} has {} tokens, more than 16 bits can count", where, manifest.texts.size());
  }
  const JsonObject splits = object.object("splits");
  for (const TextSplit split : kTextSplits) manifest.of(split) = read_split(splits.object(name_of(split)));
  return manifest;
}

TextManifest read_manifest(const fs::path& folder) {
  const fs::path path = folder / "manifest.json";
  if (!is_file(path)) {
    fail("{} is no folder of prepared text: it has no manifest.json; `lengthwise text prepare` makes one",
         shown(folder));
  }
  return parse_manifest(read_file(path), shown(path));
}

}  // namespace lengthwise
