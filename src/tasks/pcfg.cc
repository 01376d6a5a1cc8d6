#include <algorithm>
#include <array>

#include "core/error.h"
#include "tasks/answer_text.h"
#include "tasks/pcfg_grammar.h"
#include "tasks/pcfg_language.h"
#include "tasks/pcfg_solver.h"
#include "tasks/registry.h"
#include "tasks/scratchpad_check.h"

namespace lengthwise {
namespace {

/// How many lines of the public productivity split have 1, 2, ..., 35 functions. Up to 8 functions only the shares of
/// the 81,010 training lines are known.
constexpr double kTrainLines = 81'010;
// clang-format off
constexpr std::array<double, 35> kLines{
    .018 * kTrainLines, .146 * kTrainLines, .221 * kTrainLines, .215 * kTrainLines,
    .151 * kTrainLines, .117 * kTrainLines, .076 * kTrainLines, .058 * kTrainLines,
    3232, 2296, 1738, 1175, 811, 631, 411, 271, 225, 154, 103, 68, 67, 46, 34, 18, 28, 5, 6, 5, 2, 4, 0, 2, 0, 0, 1};
// clang-format on

constexpr int64_t kMaxFunctions = 1'000;

/// Draws a source with a given number of functions (pcfg_grammar.h) and works it out from the inside as it goes.
class Generator {
 public:
  void draw(Rng& rng, int64_t functions, int64_t version) {
    version_ = version;
    shape_ = &PcfgShape::of(functions, version);
    do {
      source_.clear();
      symbols_.clear();
      produced_ = 0;
      add_argument(rng, functions);
    } while (lost() || !keep(rng, functions));
  }

  const std::vector<PcfgWord>& source() const { return source_; }
  const std::vector<PcfgWord>& target() const { return symbols_; }

 private:
  bool lost() const { return produced_ > kPcfgMaxSymbols; }

  /// Whether the source is one that the corpus could have. Of those of 1,000 functions it takes two or three.
  bool keep(Rng& rng, int64_t functions) const {
    const size_t target = symbols_.size();
    if (version_ == 1) return target <= kPcfgCorpusTarget;
    if (functions <= kPcfgCorpusFunctions && source_.size() > kPcfgCorpusWords) return false;
    return rng.below(kPcfgCorpusTarget + 1) >= target;
  }

  /// Appends the words of an argument to the source and its value to the symbols. A lost source is left unfinished.
  void add_argument(Rng& rng, int64_t functions) {
    const size_t begin = symbols_.size();
    if (functions == 0) {
      add_literal(rng);
    } else if (shape_->draw_binary(rng, functions)) {
      const auto function = static_cast<PcfgWord>(pcfg::append + rng.below(4));
      const int64_t first = shape_->draw_first(rng, functions);
      source_.push_back(function);
      add_argument(rng, first);
      if (lost()) return;
      source_.push_back(pcfg::comma);
      const size_t middle = symbols_.size();
      add_argument(rng, functions - 1 - first);
      if (lost()) return;
      join(function, begin, middle);
    } else {
      const auto function = static_cast<PcfgWord>(pcfg::copy + rng.below(6));
      source_.push_back(function);
      add_argument(rng, functions - 1);
      if (lost()) return;
      change(function, begin);
    }
    produced_ += symbols_.size() - begin;
  }

  void add_literal(Rng& rng) {
    const int size = draw_pcfg_literal(rng, version_);
    for (int i = 0; i < size; ++i) {
      const auto symbol = static_cast<PcfgWord>(rng.below(kPcfgSymbols));
      source_.push_back(symbol);
      symbols_.push_back(symbol);
    }
  }

  void change(PcfgWord function, size_t begin) {
    PcfgWord* const x = symbols_.data() + begin;
    const size_t size = symbols_.size() - begin;
    if (function == pcfg::reverse) {
      for (size_t i = 0; i < size / 2; ++i) std::swap(x[i], x[size - 1 - i]);
    } else if (function == pcfg::shift) {
      const PcfgWord first = x[0];
      std::copy(x + 1, x + size, x);
      x[size - 1] = first;
    } else if (function == pcfg::echo) {
      symbols_.push_back(PcfgWord{x[size - 1]});
    } else if (function == pcfg::swap_first_last) {
      std::swap(x[0], x[size - 1]);
    } else if (function == pcfg::repeat) {
      for (size_t i = 0; i < size; ++i) symbols_.push_back(PcfgWord{symbols_[begin + i]});
    }
  }

  void join(PcfgWord function, size_t begin, size_t middle) {
    PcfgWord* const x = symbols_.data() + begin;
    PcfgWord* const y = symbols_.data() + middle;
    PcfgWord* const end = symbols_.data() + symbols_.size();
    if (function == pcfg::prepend) {
      std::rotate(x, y, end);
    } else if (function == pcfg::remove_first) {
      std::copy(y, end, x);
      symbols_.resize(symbols_.size() - (middle - begin));
    } else if (function == pcfg::remove_second) {
      symbols_.resize(middle);
    }
  }

  int64_t version_ = 0;
  const PcfgShape* shape_ = nullptr;
  std::vector<PcfgWord> source_;
  std::vector<PcfgWord> symbols_;
  size_t produced_ = 0;  ///< symbols of all results so far: no order of evaluation holds more at once
};

class Pcfg : public Task {
 public:
  const TaskInfo& info() const override {
    static const TaskInfo info{.name = "pcfg",
                               .summary = "apply nested functions to sequences of symbols",
                               .group = "classic",
                               .paper = "pcfg/md_productivity",
                               .unit = "functions",
                               .train = {1, 8},
                               .test = {9, 35},
                               .train_count = 72'909,
                               .validation_count = 8'101,
                               .test_count = 11'333,
                               .data_version = 2};
    return info;
  }

  /// In the public split's proportions; equally where it has no lines at all.
  std::vector<Bin> plan(LengthRange lengths, int64_t count, Split) const override {
    if (lengths.high > kMaxFunctions) {
      fail("pcfg has sources of 1 to {} functions, so lengths {} cannot be had", kMaxFunctions, to_text(lengths));
    }
    std::vector<double> weights;
    for (int64_t length = lengths.low; length <= lengths.high; ++length) {
      const auto place = static_cast<size_t>(length - 1);
      weights.push_back(place < kLines.size() ? kLines[place] : 0);
    }
    return weighted_bins(lengths, count, weights);
  }

  void generate(const Draw& draw, const Style& style, Example& out) const override {
    checked_scratchpad(info(), style.scratchpad, draw.bin.length);
    LENGTHWISE_CHECK(1 <= draw.bin.length && draw.bin.length <= kMaxFunctions, "{} functions", draw.bin.length);
    Rng rng = draw.rng.at(static_cast<uint64_t>(draw.index));
    thread_local Generator generator;
    generator.draw(rng, draw.bin.length, draw.version);
    out.length = draw.bin.length;
    out.category.clear();
    append_number(out.category, draw.bin.length);
    out.prompt.clear();
    append_pcfg_prompt(out.prompt, generator.source(), style.wording);
    out.target.clear();
    append_pcfg(out.target, generator.target());
  }

  std::string solve(std::string_view prompt, const Scratchpad& scratchpad) const override {
    PromptReader reader(prompt);
    const bool released = reader.accept("Solve");
    if (released) reader.expect(":");
    const PcfgProblem problem = read_pcfg(reader);
    if (released) reader.expect("[SEP]");
    reader.expect_end();
    checked_scratchpad(info(), scratchpad, problem.functions);
    std::string target;
    append_pcfg(target, problem.target);
    return target;
  }

  std::vector<std::string> lexicon() const override {
    std::vector<PcfgWord> words;
    for (PcfgWord word = 0; word < pcfg::end; ++word) words.push_back(word);
    std::string all;
    append_pcfg(all, words);
    return {all, "Solve: copy A1 B2[SEP]"};
  }
};

}  // namespace

TaskList make_pcfg() {
  return single_task<Pcfg>();
}

}  // namespace lengthwise
