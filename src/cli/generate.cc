#include <iostream>
#include <memory>

#include "cli/commands.h"
#include "cli/options.h"
#include "core/error.h"
#include "core/text.h"
#include "eval/load_run.h"
#include "infer/greedy.h"
#include "runtime/settings.h"
#include "tasks/registry.h"

namespace lengthwise {
namespace {

struct GenerateOptions {
  std::string run;
  std::string prompt;
  std::string weights = "best";
  bool explain = false;
  int64_t max_tokens = 0;
  int64_t threads = 0;

  template <class Visitor>
  void visit(Visitor&& field) {
    field("weights", weights, "best or last");
    field("explain", explain, "also show the right answer and where the two part");
    field("max-tokens", max_tokens, "limit of prompt and answer; 0: 256, with a scratchpad 1500");
    field("threads", threads, "CPU threads; 0: all cores");
  }
};

/// The first word in which two texts differ, counted from 1; 0 when they are equal.
size_t parting_word(const std::string& a, const std::string& b) {
  const auto left = split_words(a);
  const auto right = split_words(b);
  for (size_t i = 0; i < std::max(left.size(), right.size()); ++i) {
    if (i >= left.size() || i >= right.size() || left[i] != right[i]) return i + 1;
  }
  return 0;
}

std::string word_at(const std::string& text, size_t number) {
  const auto words = split_words(text);
  return number <= words.size() ? fmt::format("'{}'", words[number - 1]) : std::string("the end");
}

void explain(const LoadedRun& run, const std::string& prompt, const std::string& answer) {
  if (run.config.data.task.empty())
    fail("--explain needs a task's solver, and this run was trained on a folder of data");
  const Task& task = find_task(run.config.data.task);
  const std::string gold = task.solve(prompt, run.config.data.scratchpad);
  std::cout << "right:  " << gold << '\n';
  if (task.is_right(answer, gold)) std::cout << "the answer is right\n";
  if (const size_t word = parting_word(answer, gold); word != 0) {
    std::cout << fmt::format("they part at word {}: {} instead of {}\n", word, word_at(answer, word),
                             word_at(gold, word));
  }
}

void run(const GenerateOptions& options) {
  const LoadedRun loaded = load_run(options.run, options.weights, "cpu");
  set_threads(options.threads);
  const Frame frame = frame_of(loaded.config.data);
  std::vector<int32_t> prompt;
  if (frame.bos) prompt.push_back(Vocabulary::kBos);
  loaded.vocabulary.encode(options.prompt, prompt);
  if (frame.sep) prompt.push_back(Vocabulary::kSep);
  if (prompt.empty()) fail("the prompt is empty");
  int64_t limit = options.max_tokens;
  if (limit == 0) limit = loaded.config.data.scratchpad.any() ? 1500 : 256;
  if (const auto most = loaded.decoder->encoding().position_limit()) limit = std::min(limit, *most);
  if (static_cast<int64_t>(prompt.size()) >= limit)
    fail("the prompt alone has {} tokens; the limit is {}", prompt.size(), limit);
  const auto answers =
      generate_greedy(*loaded.decoder, {prompt}, {.max_total_tokens = limit, .precision = loaded.config.precision});
  const std::string answer = loaded.vocabulary.decode(answers.front());
  if (!options.explain) {
    std::cout << answer << '\n';
    return;
  }
  std::cout << "answer: " << answer << '\n';
  explain(loaded, options.prompt, answer);
}

}  // namespace

void add_generate_command(CLI::App& app) {
  CLI::App* command = app.add_subcommand("generate", "let a trained run answer a prompt");
  auto options = std::make_shared<GenerateOptions>();
  command->add_option("RUN", options->run, "folder of a run")->required();
  command->add_option("PROMPT", options->prompt, "in the wording the run was trained on")->required();
  add_options(*command, *options);
  command->callback([options] { run(*options); });
}

}  // namespace lengthwise
