#include "tasks/pcfg_solver.h"

#include <algorithm>

#include "core/error.h"

namespace lengthwise {
namespace {

constexpr int64_t kMaxFunctions = 10'000;

PcfgWord read_word(PromptReader& reader) {
  const auto word = find_pcfg_word(reader.peek());
  if (!word) {
    std::vector<std::string> functions;
    for (PcfgWord function = pcfg::copy; function < pcfg::comma; ++function)
      functions.emplace_back(pcfg_text(function));
    reader.fail_because(fmt::format("'{}' is neither a function nor a symbol from A1 to Z20{}",
                                    excerpt(reader.peek(), 20), did_you_mean(reader.peek(), functions)));
  }
  return *word;
}

/// A comma belongs to the innermost binary function whose first argument is open. Everything inside that argument is
/// complete by then, so the number of open ones says whether a source is well formed.
void read_source(PromptReader& reader, PcfgProblem& problem) {
  int64_t commas_due = 0;
  bool in_literal = false;
  while (!reader.at_end() && reader.peek() != "[SEP]") {
    const PcfgWord word = read_word(reader);
    if (pcfg::is_function(word)) {
      if (in_literal) reader.fail_expected(commas_due > 0 ? "a symbol or ','" : "a symbol or the end");
      if (pcfg::is_binary(word)) ++commas_due;
      if (++problem.functions > kMaxFunctions) {
        reader.fail_because(fmt::format("it is too large: more than {} functions", kMaxFunctions));
      }
    } else if (pcfg::is_symbol(word)) {
      if (problem.functions == 0) reader.fail_expected("a function");
      in_literal = true;
    } else {
      if (problem.functions == 0) reader.fail_expected("a function");
      if (!in_literal) reader.fail_expected("a function or a symbol");
      if (commas_due == 0) reader.fail_expected("a symbol or the end");
      --commas_due;
      in_literal = false;
    }
    problem.source.push_back(word);
    reader.next("a word");
  }
  if (problem.functions == 0) reader.fail_expected("a function");
  if (!in_literal) reader.fail_expected("a function or a symbol");
  if (commas_due > 0) reader.fail_expected("a symbol or ','");
}

/// Works a source out from its last word to its first, so that arguments are there before their function. The results
/// lie one behind the other in `symbols`; the latest, which is the leftmost in the source, is the last.
class Evaluation {
 public:
  void push(std::span<const PcfgWord> literal) {
    begins_.push_back(symbols_.size());
    symbols_.insert(symbols_.end(), literal.begin(), literal.end());
  }

  void apply(PcfgWord function) {
    LENGTHWISE_CHECK(begins_.size() >= (pcfg::is_binary(function) ? 2u : 1u), "an argument is missing");
    const auto x = symbols_.begin() + static_cast<std::ptrdiff_t>(begins_.back());
    switch (function) {
      case pcfg::copy:
        return;
      case pcfg::reverse:
        return std::reverse(x, symbols_.end());
      case pcfg::shift:
        std::rotate(x, x + 1, symbols_.end());
        return;
      case pcfg::echo:
        return symbols_.push_back(symbols_.back());
      case pcfg::swap_first_last:
        return std::iter_swap(x, symbols_.end() - 1);
      case pcfg::repeat: {
        const size_t size = symbols_.size() - begins_.back();
        symbols_.resize(symbols_.size() + size);
        std::copy_n(symbols_.end() - 2 * static_cast<std::ptrdiff_t>(size), size,
                    symbols_.end() - static_cast<std::ptrdiff_t>(size));
        return;
      }
      default:
        break;
    }
    begins_.pop_back();
    const auto y = symbols_.begin() + static_cast<std::ptrdiff_t>(begins_.back());
    switch (function) {
      case pcfg::append:
        std::rotate(y, x, symbols_.end());
        return;
      case pcfg::prepend:
        return;
      case pcfg::remove_first:
        symbols_.erase(x, symbols_.end());
        return;
      case pcfg::remove_second:
        symbols_.erase(y, x);
        return;
      default:
        LENGTHWISE_CHECK(false, "word {} is no function", function);
    }
  }

  const std::vector<PcfgWord>& symbols() const { return symbols_; }
  size_t results() const { return begins_.size(); }

 private:
  std::vector<PcfgWord> symbols_;
  std::vector<size_t> begins_;
};

}  // namespace

PcfgProblem read_pcfg(PromptReader& reader) {
  PcfgProblem problem;
  read_source(reader, problem);

  Evaluation evaluation;
  const std::span<const PcfgWord> source = problem.source;
  for (size_t end = source.size(); end > 0;) {
    size_t begin = end - 1;
    if (pcfg::is_symbol(source[begin])) {
      while (begin > 0 && pcfg::is_symbol(source[begin - 1])) --begin;
      evaluation.push(source.subspan(begin, end - begin));
    } else if (pcfg::is_function(source[begin])) {
      evaluation.apply(source[begin]);
    }
    if (evaluation.symbols().size() > kPcfgMaxSymbols) {
      reader.fail_because(fmt::format("it is too large: it makes more than {} symbols", kPcfgMaxSymbols));
    }
    end = begin;
  }
  LENGTHWISE_CHECK(evaluation.results() == 1, "{} results", evaluation.results());
  problem.target = evaluation.symbols();
  return problem;
}

}  // namespace lengthwise
