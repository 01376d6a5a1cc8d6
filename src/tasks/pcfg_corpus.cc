#include "tasks/pcfg_corpus.h"

#include "core/error.h"
#include "core/files.h"
#include "core/text.h"
#include "tasks/answer_text.h"
#include "tasks/pcfg_solver.h"

namespace lengthwise {
namespace {

/// A newline ends a line, so that the last one needs none and may have one.
std::vector<std::string_view> split_lines(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    lines.push_back(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return lines;
}

Example make_example(std::string_view source_line, std::string_view target_line, Wording wording,
                     const std::string& source_place, const std::string& target_place) {
  PcfgProblem problem;
  try {
    PromptReader reader(source_line);
    problem = read_pcfg(reader);
    reader.expect_end();
  } catch (const UserError& error) {
    fail("{}: {}", source_place, error.what());
  }
  Example example;
  example.length = problem.functions;
  append_number(example.category, problem.functions);
  append_pcfg_prompt(example.prompt, problem.source, wording);
  append_pcfg(example.target, problem.target);
  if (collapse_spaces(target_line) != example.target) {
    fail("{}: the value of \"{}\" is \"{}\", not \"{}\"", target_place, excerpt(trim(source_line)),
         excerpt(example.target), excerpt(trim(target_line)));
  }
  return example;
}

std::vector<Example> read_pair(const std::filesystem::path& folder, const std::string& name, Wording wording) {
  const std::string source_file = (folder / (name + ".src")).string();
  const std::string target_file = (folder / (name + ".tgt")).string();
  const std::string source_text = read_file(source_file);
  const std::string target_text = read_file(target_file);
  const auto sources = split_lines(source_text);
  const auto targets = split_lines(target_text);
  if (sources.size() != targets.size()) {
    fail("{} has {} lines but {} has {}; line n of one belongs to line n of the other", source_file, sources.size(),
         target_file, targets.size());
  }
  if (sources.empty()) fail("{}: the file is empty; one example a line was expected", source_file);
  std::vector<Example> examples;
  examples.reserve(sources.size());
  for (size_t i = 0; i < sources.size(); ++i) {
    examples.push_back(make_example(sources[i], targets[i], wording, fmt::format("{}:{}", source_file, i + 1),
                                    fmt::format("{}:{}", target_file, i + 1)));
  }
  return examples;
}

}  // namespace

PcfgCorpus read_pcfg_corpus(const std::filesystem::path& folder, Wording wording) {
  PcfgCorpus corpus;
  corpus.train = read_pair(folder, "train", wording);
  corpus.test = read_pair(folder, "test", wording);
  if (is_there(folder / "dev.src") || is_there(folder / "dev.tgt")) {
    corpus.validation = read_pair(folder, "dev", wording);
  }
  return corpus;
}

}  // namespace lengthwise
