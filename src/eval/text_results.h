#pragma once
/// A run on text, measured: next-token accuracy and loss in the shape that results of every run have, and perplexity by
/// context.
#include "eval/evaluate.h"
#include "eval/load_run.h"
#include "eval/perplexity.h"

namespace lengthwise {

/// The chosen validation windows, under the context of training: tokens that were scored, and how many were the most
/// likely ones.
SetAccuracy text_validation(Scorer& scorer, const DataSet& data, std::span<const int64_t> examples, int64_t context,
                            Progress& progress);

/// The same of a text by context.
SetAccuracy accuracy_of(const std::vector<ContextScore>& scores);

/// What is known before anything is measured. `config` is resolved.
ContextProtocol context_protocol(const TrainConfig& config, const PreparedText& text, const Model& model,
                                 const std::string& selection, int64_t step);

struct ContextOptions {
  std::vector<int64_t> contexts;
  int64_t stride = 0;  ///< 0: no overlap
  bool cross_documents = false;
  int64_t tokens = std::numeric_limits<int64_t>::max();  ///< of the test text, from its beginning
};

/// The test text at each context.
std::vector<ContextScore> measure_contexts(Scorer& scorer, const PreparedText& text, const Vocabulary& vocabulary,
                                           const ContextOptions& options, const std::string& subject,
                                           Progress& progress);

/// UserErrors, before any work: a stride that does not fit, a context beyond the encoding's positions, no test text,
/// and another tokenizer than the run's.
void check_contexts(const LoadedRun& run, const PreparedText& text, const ContextOptions& options,
                    const std::filesystem::path& folder);

}  // namespace lengthwise
