#include "cli/eval_text.h"

#include <iostream>

#include "core/printable.h"
#include "core/table.h"
#include "eval/engines.h"
#include "eval/text_results.h"

namespace lengthwise {
namespace {

void print_table(const ContextProtocol& protocol, const std::vector<ContextScore>& scores) {
  Table table({"context", "of training", "tokens", "nats per token", "perplexity", "bits per byte"});
  for (const ContextScore& score : scores) {
    table.add({std::to_string(score.window),
               fmt::format("{:g}x", static_cast<double>(score.window) / static_cast<double>(protocol.trained_context)),
               std::to_string(score.sum.tokens), fmt::format("{:.4f}", score.sum.mean()),
               fmt::format("{:.4f}", score.perplexity()), fmt::format("{:.4f}", score.bits_per_byte())});
  }
  std::cout << table.to_string() << '\n';
}

/// One column a context: how the loss falls, or does not, with what stands before a token.
void print_positions(const std::vector<ContextScore>& scores) {
  std::vector<std::string> header{"tokens before"};
  for (const ContextScore& score : scores) header.push_back("in " + std::to_string(score.window));
  Table table(header);
  for (int64_t to = 1; to < 2 * scores.back().window; to *= 2) {
    const int64_t from = to / 2 + 1;
    std::vector<std::string> row{from == to ? std::to_string(to) : fmt::format("{}-{}", from, to)};
    for (const ContextScore& score : scores) {
      std::string& cell = row.emplace_back();
      for (const PositionLoss& bin : score.positions) {
        if (bin.from == from) cell = fmt::format("{:.4f}", bin.sum.mean());
      }
    }
    table.add(row);
  }
  std::cout << "nats per token by position in the window\n" << table.to_string() << '\n';
}

}  // namespace

void evaluate_text_run(const LoadedRun& run, const EvalTextOptions& options, Progress& progress) {
  const ResolvedData data = resolve(run.config.data);
  ContextOptions how;
  how.contexts = options.contexts.empty() ? data.contexts : read_contexts(options.contexts);
  how.stride = options.stride;
  how.cross_documents = data.cross_documents;
  if (options.text.empty()) how.tokens = data.test_tokens();
  if (options.tokens != 0) how.tokens = options.tokens;
  const std::filesystem::path folder = options.text.empty() ? data.text : std::filesystem::path(options.text);
  const PreparedText text = open_text(folder);
  check_contexts(run, text, how, folder);
  const std::unique_ptr<Scorer> scorer = make_scorer(*run.model, run.config.precision);
  const std::vector<ContextScore> scores =
      measure_contexts(*scorer, text, run.vocabulary, how, options.weights + " weights", progress);
  const ContextProtocol protocol = context_protocol(run.config, text, *run.model, options.weights, run.step);
  record_contexts(options.run, protocol, scores);
  if (options.json) {
    for (const ContextScore& score : scores) std::cout << context_json(protocol, score) << '\n';
    return;
  }
  print_table(protocol, scores);
  print_positions(scores);
  for (const ContextScore& score : scores)
    std::cout << fmt::format("{}: {}\n", score.window, printable(protocol_line(protocol, score)));
}

}  // namespace lengthwise
