#include <unordered_map>

#include "core/checksum.h"
#include "core/error.h"
#include "core/files.h"
#include "core/rng.h"
#include "core/text.h"
#include "text/documents.h"
#include "text/tokenizer.h"
#include "text/train_tokenizer.h"

#ifdef LENGTHWISE_SENTENCEPIECE
#include <sentencepiece_processor.h>
#include <sentencepiece_trainer.h>
#endif

namespace lengthwise {

namespace fs = std::filesystem;

#ifdef LENGTHWISE_SENTENCEPIECE
namespace {

class SubwordTokenizer : public Tokenizer {
 public:
  explicit SubwordTokenizer(const fs::path& model) {
    const std::string bytes = read_file(model);
    if (const auto status = processor_.LoadFromSerializedProto(bytes); !status.ok())
      fail("{} is no SentencePiece model: {}", shown(model), excerpt(status.ToString()));
    checksum_ = checksum_of(bytes);
    const int64_t size = processor_.GetPieceSize();
    if (size + kTextSpecials > kMostTextTokens) {
      fail("{} has {} tokens; with the {} specials that is more than the {} that 16 bits can count", shown(model), size,
           kTextSpecials, kMostTextTokens);
    }
    for (int id = 0; id < size; ++id) texts_.push_back(processor_.IdToPiece(id));
  }

  std::string kind() const override { return "sentencepiece"; }
  std::string checksum() const override { return checksum_; }
  const std::vector<std::string>& texts() const override { return texts_; }

  void encode(std::string_view text, std::vector<TextToken>& tokens) const override {
    std::vector<int> ids;
    const auto status = processor_.Encode({text.data(), text.size()}, &ids);
    LENGTHWISE_CHECK(status.ok(), "SentencePiece: {}", status.ToString());
    for (const int id : ids) tokens.push_back(static_cast<TextToken>(kTextSpecials + id));
  }

 private:
  sentencepiece::SentencePieceProcessor processor_;
  std::string checksum_;
  std::vector<std::string> texts_;
};

/// As many lines as wanted, each of the text's with the same chance (reservoir sampling, Vitter 1985).
class LineSample : public DocumentSink, public sentencepiece::SentenceIterator {
 public:
  LineSample(int64_t wanted, int64_t seed) : wanted_(wanted), rng_(Rng(static_cast<uint64_t>(seed)).stream("lines")) {}

  void text(std::string_view piece) override {
    const std::string_view line = trim(piece);
    if (line.empty()) return;
    const int64_t place = seen_ < wanted_ ? seen_ : rng_.between(0, seen_);
    ++seen_;
    if (place >= wanted_) return;
    if (place == std::ssize(lines_)) lines_.emplace_back();
    lines_[static_cast<size_t>(place)] = line;
  }
  void end_document() override {}

  int64_t lines() const { return std::ssize(lines_); }

  // What SentencePiece asks for.
  bool done() const override { return next_ >= lines_.size(); }
  void Next() override { ++next_; }
  const std::string& value() const override { return lines_[next_]; }
  sentencepiece::util::Status status() const override { return {}; }

 private:
  int64_t wanted_;
  Rng rng_;
  int64_t seen_ = 0;
  std::vector<std::string> lines_;
  size_t next_ = 0;
};

}  // namespace

bool has_sentencepiece() {
  return true;
}

std::unique_ptr<Tokenizer> make_subword_tokenizer(const fs::path& model) {
  return std::make_unique<SubwordTokenizer>(model);
}

void train_tokenizer(const std::vector<fs::path>& files, const TokenizerOptions& options, const fs::path& model,
                     Progress& progress) {
  constexpr int64_t kLeast = 300;  // the bytes and a few more
  if (options.size < kLeast || options.size + kTextSpecials > kMostTextTokens) {
    fail("--size must be between {} and {}, not {}: with the specials, ids have 16 bits", kLeast,
         kMostTextTokens - kTextSpecials, options.size);
  }
  if (options.lines < 1) fail("--lines must be positive, not {}", options.lines);
  if (is_there(model)) fail("{} exists already; name a new file", shown(model));
  LineSample sample(options.lines, options.seed);
  for (const fs::path& file : files) {
    read_documents(file, sample, [&](double share) {
      progress.update(static_cast<int64_t>(1000 * share), 1000, "reading " + shown(file));
    });
  }
  progress.update(0, 1, fmt::format("making {} tokens of {} lines", options.size, sample.lines()));
  const std::unordered_map<std::string, std::string> how = {
      {"vocab_size", std::to_string(options.size)},
      {"model_type", "unigram"},
      {"byte_fallback", "true"},
      {"normalization_rule_name", "identity"},
      {"remove_extra_whitespaces", "false"},
      {"add_dummy_prefix", "false"},
      {"max_sentence_length", "65536"},
      {"unk_id", "0"},
      {"bos_id", "-1"},
      {"eos_id", "-1"},
      {"pad_id", "-1"},
      {"minloglevel", "3"},
  };
  std::string bytes;
  const auto status = sentencepiece::SentencePieceTrainer::Train(how, &sample, &bytes);
  if (!status.ok()) fail("SentencePiece made no vocabulary: {}", excerpt(status.ToString(), 200));
  write_file(model, bytes);
}

#else

bool has_sentencepiece() {
  return false;
}

namespace {
constexpr const char* kMissing =
    "this program was built without SentencePiece: install libsentencepiece-dev and build it again, or use the "
    "tokenizer `bytes`";
}  // namespace

std::unique_ptr<Tokenizer> make_subword_tokenizer(const fs::path&) {
  fail("{}", kMissing);
}

void train_tokenizer(const std::vector<fs::path>&, const TokenizerOptions&, const fs::path&, Progress&) {
  fail("{}", kMissing);
}

#endif

}  // namespace lengthwise
