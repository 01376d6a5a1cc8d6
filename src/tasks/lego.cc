#include <algorithm>
#include <array>

#include "core/error.h"
#include "tasks/answer_text.h"
#include "tasks/prompt_reader.h"
#include "tasks/registry.h"
#include "tasks/scratchpad.h"
#include "tasks/scratchpad_check.h"

namespace lengthwise {
namespace {

constexpr int64_t kLetters = 26;
constexpr char kConstant = '1';

/// `name = sign source`, where the source is another variable or the constant 1.
struct Clause {
  char name = 0;
  bool minus = false;
  char source = kConstant;
  bool negative = false;  ///< the value of `name` is -1
};

struct Problem {
  std::vector<Clause> clauses;
  std::vector<size_t> path;  ///< the clauses from a constant to the one that is asked for
};

void append_value(std::string& text, bool negative) {
  text += negative ? "-1" : "+1";
}

/// `-a` as printed, `- a` as released; the constant has no space in either.
void append_right_side(std::string& text, const Clause& clause, Wording wording) {
  text += clause.minus ? '-' : '+';
  if (wording == Wording::released && clause.source != kConstant) text += ' ';
  text += clause.source;
}

void append_clause(std::string& text, const Clause& clause, Wording wording) {
  text += clause.name;
  text += " = ";
  append_right_side(text, clause, wording);
}

std::string_view separator(Wording wording) {
  return wording == Wording::printed ? "; " : ", ";
}

void append_prompt(const Problem& problem, Wording wording, std::string& text) {
  text += "If ";
  for (size_t i = 0; i < problem.clauses.size(); ++i) {
    if (i > 0) text += separator(wording);
    append_clause(text, problem.clauses[i], wording);
  }
  text += wording == Wording::printed ? ". Then what is " : ". Then, what is the value of ";
  text += problem.clauses[problem.path.back()].name;
  text += '?';
}

void append_steps(const Problem& problem, Wording wording, const Scratchpad& format, std::string& text) {
  ScratchpadWriter pad(format, text);
  std::array<bool, 2 * kLetters> resolved{};
  bool source_negative = false;
  for (const size_t at : problem.path) {
    const Clause& clause = problem.clauses[at];
    pad.begin_step();
    if (pad.input()) {
      text += ' ';
      text += clause.name;
    }
    if (pad.computation() && clause.source != kConstant) {
      text += ' ';
      append_right_side(text, clause, wording);
      text += clause.minus ? " = - " : " = + ";
      append_value(text, source_negative);
    }
    if (pad.output()) {
      text += ' ';
      append_value(text, clause.negative);
    }
    resolved[at] = true;
    source_negative = clause.negative;
    if (!pad.remaining()) continue;
    bool first = true;
    for (size_t i = 0; i < problem.clauses.size(); ++i) {
      if (resolved[i]) continue;
      text += first ? std::string_view(" ") : separator(wording);
      append_clause(text, problem.clauses[i], wording);
      first = false;
    }
  }
  pad.finish();
}

void append_target(const Problem& problem, Wording wording, const Scratchpad& format, std::string& text) {
  if (format.any()) append_steps(problem, wording, format, text);
  text += "The answer is ";
  append_value(text, problem.clauses[problem.path.back()].negative);
  text += '.';
}

/// Single letters a..z and A..Z become 0..51.
size_t letter_index(char letter) {
  return static_cast<size_t>(letter >= 'a' ? letter - 'a' : letter - 'A' + kLetters);
}

char read_letter(PromptReader& reader) {
  const std::string_view piece = reader.peek();
  const bool letter =
      piece.size() == 1 && ((piece[0] >= 'a' && piece[0] <= 'z') || (piece[0] >= 'A' && piece[0] <= 'Z'));
  if (!letter) reader.fail_expected("a variable of one letter");
  reader.word();
  return piece[0];
}

Clause read_clause(PromptReader& reader) {
  Clause clause;
  clause.name = read_letter(reader);
  reader.expect("=");
  clause.minus = reader.accept("-");
  if (!clause.minus && !reader.accept("+")) reader.fail_expected("'+' or '-'");
  clause.source = reader.accept("1") ? kConstant : read_letter(reader);
  return clause;
}

/// Which clause defines a letter.
class Definitions {
 public:
  Definitions() { clause_.fill(kNone); }

  void add(const PromptReader& reader, char name, size_t clause) {
    size_t& slot = clause_[letter_index(name)];
    if (slot != kNone) reader.fail_because(fmt::format("'{}' is given a value twice", name));
    slot = clause;
  }

  size_t of(const PromptReader& reader, char name) const {
    const size_t clause = clause_[letter_index(name)];
    if (clause == kNone) reader.fail_because(fmt::format("'{}' is never given a value", name));
    return clause;
  }

 private:
  static constexpr size_t kNone = SIZE_MAX;
  std::array<size_t, 2 * kLetters> clause_{};
};

/// The solver's way: back from the variable asked for to its constant, then forth again, so that the order in which the
/// clauses stand does not matter.
void resolve(const PromptReader& reader, const Definitions& definitions, char query, Problem& problem) {
  char name = query;
  while (name != kConstant) {
    if (problem.path.size() > problem.clauses.size()) {
      reader.fail_because(fmt::format("'{}' depends on itself and never on a constant", query));
    }
    problem.path.push_back(definitions.of(reader, name));
    name = problem.clauses[problem.path.back()].source;
  }
  std::reverse(problem.path.begin(), problem.path.end());
  bool negative = false;
  for (const size_t at : problem.path) {
    negative ^= problem.clauses[at].minus;
    problem.clauses[at].negative = negative;
  }
}

/// How many variables of a chain are asked for: those of its second half.
int64_t queries(int64_t length) {
  return length / 2;
}

class Lego : public Task {
 public:
  const TaskInfo& info() const override {
    static const TaskInfo info{.name = "lego",
                               .summary = "follow a chain of signed assignments to a variable's value",
                               .group = "reasoning",
                               .paper = "s2s_lego/len_tr8_ts16",
                               .unit = "variables",
                               .train = {4, 8},
                               .test = {9, 16},
                               .scratchpad = true,
                               .answer = AnswerKind::statement};
    return info;
  }

  /// Every chain is asked for each variable of its second half, so that a bin is a multiple of half the length.
  std::vector<Bin> plan(LengthRange lengths, int64_t count, Split) const override {
    if (lengths.low < 2 || lengths.high > kLetters) {
      fail("lego: a chain has 2 to {} variables, one letter each; these lengths are {}", kLetters, to_text(lengths));
    }
    std::vector<Bin> bins = equal_bins(lengths, count);
    for (Bin& bin : bins) bin.count -= bin.count % queries(bin.length);
    return bins;
  }

  void generate(const Draw& draw, const Style& style, Example& out) const override {
    const int64_t length = draw.bin.length;
    LENGTHWISE_CHECK(length >= 2 && length <= kLetters, "lego of length {}", length);
    thread_local Problem problem;
    Rng rng = draw.rng.at(static_cast<uint64_t>(draw.index / queries(length)));
    draw_chain(rng, static_cast<size_t>(length), problem);
    const auto query = static_cast<size_t>(length - queries(length) + draw.index % queries(length));
    problem.path.resize(query + 1);
    for (size_t i = 0; i <= query; ++i) problem.path[i] = i;
    out.length = length;
    out.category.clear();
    append_number(out.category, length);
    out.category += "-at-";
    append_number(out.category, static_cast<int64_t>(query));
    out.prompt.clear();
    append_prompt(problem, style.wording, out.prompt);
    out.target.clear();
    append_target(problem, style.wording, checked_scratchpad(info(), style.scratchpad, length), out.target);
  }

  std::string solve(std::string_view prompt, const Scratchpad& scratchpad) const override {
    PromptReader reader(prompt);
    reader.expect("If");
    Problem problem;
    Definitions definitions;
    do {
      problem.clauses.push_back(read_clause(reader));
      definitions.add(reader, problem.clauses.back().name, problem.clauses.size() - 1);
    } while (reader.accept(";") || reader.accept(","));
    reader.expect(". Then");
    const Wording wording = reader.accept(",") ? Wording::released : Wording::printed;
    reader.expect(wording == Wording::printed ? "what is" : "what is the value of");
    const char query = read_letter(reader);
    reader.expect("?");
    reader.expect_end();
    resolve(reader, definitions, query, problem);
    const auto length = static_cast<int64_t>(problem.clauses.size());
    std::string target;
    append_target(problem, wording, checked_scratchpad(info(), scratchpad, length), target);
    return target;
  }

  std::vector<std::string> lexicon() const override {
    return {"If a = -1; b = +a; c = +1. Then what is c?",
            "If a = -1, b = - a, c = + b. Then, what is the value of c?",
            "The answer is +1. -1.",
            "a b c d e f g h i j k l m n o p q r s t u v w x y z",
            "-a = - -1 +a = + +1 - a = + a",
            scratchpad_lexicon()};
  }

 private:
  /// Values first, by coin; each sign then follows from two neighbours.
  static void draw_chain(Rng& rng, size_t length, Problem& problem) {
    std::array<char, kLetters> letters{};
    for (size_t i = 0; i < letters.size(); ++i) letters[i] = static_cast<char>('a' + i);
    problem.clauses.resize(length);
    for (size_t i = 0; i < length; ++i) {
      std::swap(letters[i], letters[i + rng.below(letters.size() - i)]);
      Clause& clause = problem.clauses[i];
      clause.name = letters[i];
      clause.negative = rng.coin();
      clause.source = i == 0 ? kConstant : letters[i - 1];
      clause.minus = clause.negative != (i > 0 && problem.clauses[i - 1].negative);
    }
  }
};

}  // namespace

TaskList make_lego() {
  return single_task<Lego>();
}

}  // namespace lengthwise
