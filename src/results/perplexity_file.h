#pragma once
/// perplexity.json of a run on text (docs/formats.md): the loss of a text by context, with everything that a number
/// rests on.
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "core/json.h"

namespace lengthwise {

/// Sums over the tokens that have `from` to `to` tokens before them in their window.
struct PositionSum {
  int64_t from = 0, to = 0;
  int64_t tokens = 0;
  double nats = 0;
};

/// One measurement.
struct ContextRow {
  std::string selection;  ///< best or last
  int64_t step = 0;
  std::string encoding;        ///< measured with
  std::string encoding_label;  ///< the same in prose; empty where the row does not say
  int64_t window = 0;
  int64_t stride = 0;    ///< the window: no overlap
  bool crossed = false;  ///< windows reach over the ends of documents
  std::string split, corpus, corpus_checksum, tokenizer;
  int64_t parameters = 0;
  int64_t trained_context = 0;
  int64_t batch_size = 0;
  std::string precision;
  int64_t tokens = 0;  ///< scored
  int64_t bytes = 0;   ///< of text that they stand for
  double nats = 0;     ///< summed; infinite where it was no number
  std::vector<PositionSum> positions;

  bool slides() const { return stride < window; }
};

/// UserError that begins with `where` for anything else than a row.
ContextRow read_context_row(const Json& row, const std::string& where);

/// All rows of a file's text. UserError where it is damaged or of a later version.
std::vector<ContextRow> parse_perplexity(std::string_view text, const std::string& where);

/// Everything that the number rests on, on one line.
std::string protocol_line(const ContextRow& row);

/// The rows of the given weights; none where the run has no such file. Where the best weights are the last ones, a run
/// records them once, as the best: they are both. UserError as above.
std::vector<ContextRow> read_perplexity(const std::filesystem::path& run, const std::string& weights,
                                        int64_t last_step);

}  // namespace lengthwise
