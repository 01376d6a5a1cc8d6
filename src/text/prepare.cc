#include "text/prepare.h"

#include <limits>
#include <memory>
#include <optional>
#include <span>

#include "core/checksum.h"
#include "core/error.h"
#include "core/files.h"
#include "core/folder_aside.h"

namespace lengthwise {
namespace {

namespace fs = std::filesystem;

/// A file of numbers with its checksum.
class NumberFile {
 public:
  NumberFile(const fs::path& folder, std::string name) : info_{std::move(name), 0, ""}, file_(folder / info_.file) {}

  template <class T>
  void write(std::span<const T> numbers) {
    const std::string_view bytes(reinterpret_cast<const char*>(numbers.data()), numbers.size_bytes());
    file_.write(bytes);
    crc_ = crc32c(bytes, crc_);
    info_.bytes += static_cast<int64_t>(bytes.size());
  }

  TextFile finish() {
    file_.commit();
    info_.checksum = checksum_text(crc_);
    return info_;
  }

 private:
  TextFile info_;
  AtomicFile file_;
  uint32_t crc_ = 0;
};

/// Writes the tokens of one split into shards.
class SplitWriter {
 public:
  SplitWriter(const fs::path& folder, TextSplit split, const Tokenizer& tokenizer, SplitManifest& manifest)
      : folder_(folder),
        name_(name_of(split)),
        tokenizer_(tokenizer),
        manifest_(manifest),
        starts_(folder, name_ + ".starts") {}

  void text(std::string_view piece) {
    if (!begun_) {
      const auto start = static_cast<uint64_t>(manifest_.tokens);
      starts_.write(std::span(&start, 1));
      begin_ = manifest_.tokens;
      tokens_.push_back(kTextBos);
      begun_ = true;
    }
    manifest_.bytes += std::ssize(piece);
    tokenizer_.encode(piece, tokens_);
    write();
  }

  void end_document() {
    if (!begun_) return;
    tokens_.push_back(kTextEos);
    write();
    ++manifest_.documents;
    manifest_.longest_document = std::max(manifest_.longest_document, manifest_.tokens - begin_);
    begun_ = false;
  }

  void finish() {
    if (shard_) manifest_.shards.push_back(shard_->finish());
    manifest_.starts = starts_.finish();
  }

 private:
  void write() {
    std::span<const TextToken> left = tokens_;
    while (!left.empty()) {
      const int64_t used = manifest_.tokens % kShardTokens;
      if (used == 0) {
        if (shard_) manifest_.shards.push_back(shard_->finish());
        shard_.reset();  // before the next one: few files may be open
        shard_ = std::make_unique<NumberFile>(folder_, fmt::format("{}-{:05}.tokens", name_, manifest_.shards.size()));
      }
      const auto here = left.first(static_cast<size_t>(std::min<int64_t>(std::ssize(left), kShardTokens - used)));
      shard_->write(here);
      manifest_.tokens += std::ssize(here);
      left = left.subspan(here.size());
    }
    tokens_.clear();
  }

  const fs::path& folder_;
  std::string name_;
  const Tokenizer& tokenizer_;
  SplitManifest& manifest_;
  NumberFile starts_;
  std::unique_ptr<NumberFile> shard_;
  std::vector<TextToken> tokens_;
  int64_t begin_ = 0;  ///< of the document
  bool begun_ = false;
};

/// Hands what is read to the split it belongs to.
class Splitter : public DocumentSink {
 public:
  /// `until[s]`: the place in the text at which split s ends.
  Splitter(std::vector<std::pair<SplitWriter*, int64_t>> until) : until_(std::move(until)) {}

  void text(std::string_view piece) override {
    while (at_ >= until_[now_].second && now_ + 1 < until_.size()) {
      until_[now_].first->end_document();
      ++now_;
    }
    at_ += std::ssize(piece);
    until_[now_].first->text(piece);
  }
  void end_document() override { until_[now_].first->end_document(); }

 private:
  std::vector<std::pair<SplitWriter*, int64_t>> until_;
  size_t now_ = 0;
  int64_t at_ = 0;
};

class Counter : public DocumentSink {
 public:
  void text(std::string_view piece) override { bytes_ += std::ssize(piece); }
  void end_document() override {}
  int64_t bytes() const { return bytes_; }

 private:
  int64_t bytes_ = 0;
};

class Reader {
 public:
  Reader(size_t files, Progress& progress) : files_(files), progress_(progress) {}

  std::vector<TextSource> read(const std::vector<fs::path>& paths, DocumentSink& sink) {
    std::vector<TextSource> sources;
    for (const fs::path& path : paths) {
      sources.push_back(read_documents(path, sink, [&](double share) {
        constexpr double kParts = 1000;
        progress_.update(static_cast<int64_t>(kParts * (static_cast<double>(done_) + share)),
                         static_cast<int64_t>(kParts) * static_cast<int64_t>(files_), "reading " + shown(path));
      }));
      ++done_;
    }
    return sources;
  }

 private:
  size_t files_;
  size_t done_ = 0;
  Progress& progress_;
};

}  // namespace

TextManifest prepare_text(const PrepareOptions& options, const Tokenizer& tokenizer, const fs::path& folder,
                          Progress& progress) {
  if (options.train.empty()) fail("no text: name one file or more");
  const bool holds_out = options.validation.empty() && options.test.empty() && options.hold_out != 0;
  if (holds_out && !(options.hold_out > 0 && options.hold_out <= 0.4)) {
    fail("--hold-out must be between 0 and 0.4, not {}", options.hold_out);
  }
  const int64_t vocabulary = std::ssize(tokenizer.texts()) + kTextSpecials;
  if (vocabulary > kMostTextTokens) {
    fail("the tokenizer has {} tokens with the specials, more than the {} that 16 bits can count", vocabulary,
         kMostTextTokens);
  }
  FolderAside aside(folder);  // before the long work, so that a folder that cannot be written is refused at once
  TextManifest manifest{tokenizer.kind(), tokenizer.checksum(), tokenizer.texts(), {}};
  std::vector<std::unique_ptr<SplitWriter>> writers;
  writers.reserve(std::size(kTextSplits));
  for (const TextSplit split : kTextSplits)
    writers.push_back(std::make_unique<SplitWriter>(aside.path(), split, tokenizer, manifest.of(split)));
  constexpr int64_t kEverything = std::numeric_limits<int64_t>::max();
  if (holds_out) {
    Reader reader(2 * options.train.size(), progress);
    Counter counter;
    reader.read(options.train, counter);
    const auto held = static_cast<int64_t>(options.hold_out * static_cast<double>(counter.bytes()));
    Splitter splitter({{writers[0].get(), counter.bytes() - 2 * held},
                       {writers[1].get(), counter.bytes() - held},
                       {writers[2].get(), kEverything}});
    const std::vector<TextSource> sources = reader.read(options.train, splitter);
    for (const TextSplit split : kTextSplits) manifest.of(split).sources = sources;
  } else {
    Reader reader(options.train.size() + options.validation.size() + options.test.size(), progress);
    const std::vector<fs::path>* paths[] = {&options.train, &options.validation, &options.test};
    for (size_t split = 0; split < writers.size(); ++split) {
      Splitter splitter({{writers[split].get(), kEverything}});
      manifest.splits[split].sources = reader.read(*paths[split], splitter);
    }
  }
  for (const auto& writer : writers) writer->finish();
  write_manifest(aside.path(), manifest);
  aside.commit();
  return manifest;
}

}  // namespace lengthwise
