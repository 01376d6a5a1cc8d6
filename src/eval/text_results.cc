#include "eval/text_results.h"

#include "core/error.h"
#include "core/files.h"
#include "core/text.h"
#include "model/architectures.h"
#include "model/decoder.h"

namespace lengthwise {
namespace {

/// As charts write it.
std::string label_of(const Model& model) {
  const Decoder* decoder = as_decoder(model);
  return decoder != nullptr ? decoder->encoding_info().label : find_architecture(model.config().architecture).label;
}

}  // namespace

SetAccuracy text_validation(Scorer& scorer, const DataSet& data, std::span<const int64_t> examples, int64_t context,
                            Progress& progress) {
  Accuracy all;
  const auto total = static_cast<int64_t>(examples.size());
  for (const ExampleScore& score : score_examples(scorer, data.validation, examples, [&](int64_t done) {
         progress.update(done, total, "evaluating: validation text");
       })) {
    all.add({score.targets, score.correct, score.targets, score.loss});
  }
  return {all, {{context, all}}, {}};
}

SetAccuracy accuracy_of(const std::vector<ContextScore>& scores) {
  SetAccuracy result;
  for (const ContextScore& score : scores) {
    const Accuracy one{score.sum.tokens, score.correct, score.sum.tokens, score.sum.nats};
    result.all.add(one);
    result.by_length[score.window] = one;
  }
  return result;
}

ContextProtocol context_protocol(const TrainConfig& config, const PreparedText& text, const Model& model,
                                 const std::string& selection, int64_t step) {
  ContextProtocol protocol;
  protocol.selection = selection;
  protocol.step = step;
  protocol.encoding = config.model.compared();
  protocol.encoding_label = label_of(model);
  std::vector<std::string> files;
  for (const TextSource& source : text.manifest.of(TextSplit::test).sources) files.push_back(source.file);
  protocol.corpus = join(files, ", ");
  protocol.corpus_checksum = text.stream(TextSplit::test)->checksum();
  protocol.tokenizer = text.manifest.tokenizer;
  protocol.parameters = model.parameters().count();
  protocol.trained_context = config.data.context;
  protocol.batch_size = config.batch_size;
  protocol.cross_documents = config.data.cross_documents;
  protocol.precision = config.precision;
  return protocol;
}

std::vector<ContextScore> measure_contexts(Scorer& scorer, const PreparedText& text, const Vocabulary& vocabulary,
                                           const ContextOptions& options, const std::string& subject,
                                           Progress& progress) {
  const std::vector<int64_t> bytes = bytes_of_tokens(vocabulary);
  std::vector<ContextScore> scores;
  for (const int64_t context : options.contexts) {
    const WindowOptions windows{.context = context,
                                .stride = std::min(options.stride, context),
                                .cross_documents = options.cross_documents,
                                .tokens = options.tokens};
    scores.push_back(score_context(scorer, text.stream(TextSplit::test), windows, bytes, [&](double share) {
      constexpr double kParts = 1000;
      progress.update(static_cast<int64_t>(kParts * share), static_cast<int64_t>(kParts),
                      fmt::format("evaluating: {}, context {}", subject, context));
    }));
  }
  return scores;
}

void check_contexts(const LoadedRun& run, const PreparedText& text, const ContextOptions& options,
                    const std::filesystem::path& folder) {
  if (options.stride < 0 || options.stride > options.contexts.front()) {
    fail("--stride must be between 1 and the least of --contexts, {}, not {}", options.contexts.front(),
         options.stride);
  }
  if (options.tokens < 2) fail("--tokens must be at least 2, not {}", options.tokens);
  const std::optional<int64_t> limit = run.model->position_limit();
  if (limit && options.contexts.back() > *limit) {
    fail("{} has {} positions, too few for a context of {}; shorten --contexts", run.model->called(), *limit,
         options.contexts.back());
  }
  if (text_vocabulary(text.manifest) != run.vocabulary) {
    fail("the tokenizer of {} ({}, {} tokens) is not the one that the run was trained with ({} tokens)", shown(folder),
         text.manifest.tokenizer, std::ssize(text.manifest.texts) + kTextSpecials, run.vocabulary.size());
  }
  if (text.manifest.of(TextSplit::test).tokens == 0) {
    fail("{} has no test text; `lengthwise text prepare` takes it with --test or --hold-out", shown(folder));
  }
}

}  // namespace lengthwise
