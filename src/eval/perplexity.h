#pragma once
/// Perplexity of a text by context: what is measured, and perplexity.json (docs/formats.md).
///
/// Two protocols. `no-overlap`: the text is cut into windows of so many tokens, and a token sees what stands before it
/// in its window, the first ones nearly nothing. `sliding`: a window begins every `stride` tokens and scores only what
/// none before it has, so that, but for a document's first window, every scored token sees at least window - stride
/// tokens. With a stride of the window they are the same. The loss by position within the window tells whether a longer
/// window helps because fewer tokens have little before them, or because what is far away is of use.
#include <filesystem>
#include <string>
#include <vector>

#include "core/progress.h"
#include "data/text_windows.h"
#include "model/scorer.h"

namespace lengthwise {

/// Sums, never means: they can be added.
struct LossSum {
  int64_t tokens = 0;  ///< scored
  double nats = 0;     ///< cross-entropy, summed over them

  double mean() const { return tokens == 0 ? 0 : nats / static_cast<double>(tokens); }
  void add(const LossSum& other) {
    tokens += other.tokens;
    nats += other.nats;
  }
};

/// Of the tokens that have `from` to `to` tokens before them in their window.
struct PositionLoss {
  int64_t from = 0, to = 0;
  LossSum sum;
};

struct ContextScore {
  int64_t window = 0;
  int64_t stride = 0;  ///< the window: no overlap
  LossSum sum;
  int64_t bytes = 0;                    ///< of text that the scored tokens stand for
  int64_t correct = 0;                  ///< scored tokens that were the most likely ones
  std::vector<PositionLoss> positions;  ///< 1, 2, 3 to 4, 5 to 8, ... tokens before; without those where there are none

  double perplexity() const;
  double bits_per_byte() const;
  const char* protocol() const { return stride == window ? "no-overlap" : "sliding"; }
};

/// Scores the windows of a stream. `token_bytes` as bytes_of_tokens gives them. `progress(share done)`.
ContextScore score_context(Scorer& scorer, const std::shared_ptr<const TextStream>& stream,
                           const WindowOptions& options, std::span<const int64_t> token_bytes,
                           const std::function<void(double)>& progress = nullptr);

/// Everything that a number rests on, besides window and stride.
struct ContextProtocol {
  std::string selection;        ///< best or last
  int64_t step = 0;             ///< of the weights
  std::string encoding;         ///< measured with
  std::string encoding_label;   ///< the same in prose
  std::string corpus;           ///< names of the files
  std::string corpus_checksum;  ///< of the prepared tokens
  std::string split = "test";
  std::string tokenizer;  ///< bytes or sentencepiece
  int64_t parameters = 0;
  int64_t trained_context = 0;
  int64_t batch_size = 0;  ///< windows of a step
  bool cross_documents = false;
  std::string precision;
};

/// On one line, behind a number.
std::string protocol_line(const ContextProtocol& protocol, const ContextScore& score);

/// Adds the scores to the run's perplexity.json; those of the same protocol, window and stride take the place of older
/// ones.
void record_contexts(const std::filesystem::path& run, const ContextProtocol& protocol,
                     const std::vector<ContextScore>& scores);

/// One score as a JSON object on one line.
std::string context_json(const ContextProtocol& protocol, const ContextScore& score);

}  // namespace lengthwise
