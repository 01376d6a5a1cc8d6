#include <iostream>
#include <memory>
#include <sstream>

#include "cli/commands.h"
#include "cli/options.h"
#include "core/error.h"
#include "core/files.h"
#include "core/json.h"
#include "core/progress.h"
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
  std::string prompts;
  std::string weights = "best";
  bool explain = false;
  bool json = false;
  int64_t max_tokens = 0;
  int64_t threads = 0;

  template <class Visitor>
  void visit(Visitor&& field) {
    field("prompts", prompts, "a file with one prompt a line, or - for standard input; one line of answer for each");
    field("weights", weights, "best or last");
    field("explain", explain, "also show the right answer and where the two part");
    field("json", json, "one JSON object a line: prompt, answer and, with --explain, right and correct");
    field("max-tokens", max_tokens, "limit of prompt and answer; 0: 256, with a scratchpad 1500");
    field("threads", threads, "CPU threads; 0: all cores");
  }
};

/// A prompt and, where it came from a file, the place to name when something is wrong with it: `FILE:LINE: `.
struct Prompt {
  std::string text;
  std::string place;
};

std::vector<Prompt> read_lines(std::istream& lines, const std::string& name) {
  std::vector<Prompt> prompts;
  for (std::string line; std::getline(lines, line);) {
    if (line.ends_with('\r')) line.pop_back();
    prompts.push_back({line, fmt::format("{}:{}: ", name, prompts.size() + 1)});
  }
  while (!prompts.empty() && trim(prompts.back().text).empty()) prompts.pop_back();
  if (prompts.empty()) fail("{} holds no prompt", name);
  return prompts;
}

std::vector<Prompt> gather_prompts(const GenerateOptions& options) {
  if (!options.prompts.empty() && !options.prompt.empty()) fail("PROMPT and --prompts exclude each other");
  if (!options.prompt.empty() && options.prompt != "-") return {{options.prompt, ""}};
  if (options.prompt == "-" || options.prompts == "-") return read_lines(std::cin, "standard input");
  if (options.prompts.empty()) fail("a PROMPT is needed, or --prompts FILE (- for standard input)");
  std::istringstream lines(read_file(options.prompts));
  return read_lines(lines, options.prompts);
}

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

void explain(const Task& task, const std::string& gold, const std::string& answer) {
  std::cout << "right:  " << gold << '\n';
  if (task.is_right(answer, gold)) std::cout << "the answer is right\n";
  if (const size_t word = parting_word(answer, gold); word != 0) {
    std::cout << fmt::format("they part at word {}: {} instead of {}\n", word, word_at(answer, word),
                             word_at(gold, word));
  }
}

/// Every prompt in the run's tokens, and nothing done before all of them are found good.
std::vector<std::vector<int32_t>> encode_all(const LoadedRun& run, const std::vector<Prompt>& prompts, int64_t limit) {
  const Frame frame = frame_of(run.config.data);
  std::vector<std::vector<int32_t>> encoded;
  for (const Prompt& prompt : prompts) {
    if (trim(prompt.text).empty()) fail("{}the prompt is empty", prompt.place);
    std::vector<int32_t>& tokens = encoded.emplace_back();
    if (frame.bos) tokens.push_back(Vocabulary::kBos);
    try {
      run.vocabulary.encode(prompt.text, tokens);
    } catch (const UserError& error) {
      fail("{}{}", prompt.place, error.what());
    }
    if (frame.sep) tokens.push_back(Vocabulary::kSep);
    if (static_cast<int64_t>(tokens.size()) >= limit)
      fail("{}the prompt alone has {} tokens; the limit is {}", prompt.place, tokens.size(), limit);
  }
  return encoded;
}

/// The solver's answers, or none where nobody asked for them.
std::vector<std::string> solve_all(const Task* task, const LoadedRun& run, const std::vector<Prompt>& prompts) {
  std::vector<std::string> solved;
  for (const Prompt& prompt : prompts) {
    if (task == nullptr) break;
    try {
      solved.push_back(task->solve(prompt.text, run.config.data.scratchpad));
    } catch (const UserError& error) {
      fail("{}{}", prompt.place, error.what());
    }
  }
  return solved;
}

void run(const GenerateOptions& options) {
  check_threads(options.threads);
  constexpr int64_t kMostTokens = 100'000;
  if (options.max_tokens < 0 || options.max_tokens > kMostTokens)
    fail("--max-tokens must be between 0 and {}, not {}", kMostTokens, options.max_tokens);
  const std::vector<Prompt> prompts = gather_prompts(options);
  const LoadedRun loaded = load_run(options.run, options.weights, "cpu");
  set_threads(options.threads);
  if (options.explain && loaded.config.data.task.empty())
    fail("--explain needs a task's solver, and this run was trained on a folder of data");
  const Task* task = options.explain ? &find_task(loaded.config.data.task) : nullptr;
  int64_t limit = options.max_tokens;
  if (limit == 0) limit = loaded.config.data.scratchpad.any() ? 1500 : 256;
  if (const auto most = loaded.model->position_limit()) limit = std::min(limit, *most);
  const std::vector<std::vector<int32_t>> encoded = encode_all(loaded, prompts, limit);
  const std::vector<std::string> solved = solve_all(task, loaded, prompts);
  std::vector<std::vector<int32_t>> answers;
  {
    constexpr size_t kSoon = 256;  // answered before anybody asks how far it is
    Progress progress(prompts.size() > kSoon ? Progress::Mode::automatic : Progress::Mode::quiet);
    const auto total = static_cast<int64_t>(prompts.size());
    answers = generate_greedy(*loaded.model, encoded, {.max_total_tokens = limit, .precision = loaded.config.precision},
                              [&](int64_t done) { progress.update(done, total, "generating answers"); });
  }
  for (size_t i = 0; i < prompts.size(); ++i) {
    const std::string answer = loaded.vocabulary.decode(answers[i]);
    if (options.json) {
      Json line = {{"prompt", collapse_spaces(prompts[i].text)}, {"answer", answer}};
      if (task != nullptr) {
        line["right"] = solved[i];
        line["correct"] = task->is_right(answer, solved[i]);
      }
      std::cout << json_text(line) << '\n';
    } else if (task == nullptr) {
      std::cout << answer << '\n';
    } else {
      if (i > 0) std::cout << '\n';
      if (prompts.size() > 1) std::cout << "prompt: " << collapse_spaces(prompts[i].text) << '\n';
      std::cout << "answer: " << answer << '\n';
      explain(*task, solved[i], answer);
    }
  }
}

}  // namespace

void add_generate_command(CLI::App& app) {
  CLI::App* command = app.add_subcommand("generate", "let a trained run answer prompts");
  auto options = std::make_shared<GenerateOptions>();
  command->add_option("RUN", options->run, "folder of a run")->required();
  command->add_option("PROMPT", options->prompt,
                      "in the wording the run was trained on; - reads many from standard input");
  add_options(*command, *options);
  command->callback([options] { run(*options); });
}

}  // namespace lengthwise
