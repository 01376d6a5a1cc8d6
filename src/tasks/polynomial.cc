#include <algorithm>

#include "core/error.h"
#include "tasks/answer_text.h"
#include "tasks/prompt_reader.h"
#include "tasks/registry.h"
#include "tasks/scratchpad.h"
#include "tasks/scratchpad_check.h"

namespace lengthwise {
namespace {

struct Term {
  int64_t coefficient = 0;
  int64_t degree = 0;
  int64_t power = 0;  ///< x ** degree
  int64_t value = 0;  ///< coefficient * power
};

struct Problem {
  int64_t x = 0;
  std::vector<Term> terms;
};

/// The remainder from 0 to 9, also of a negative number.
int64_t modulo_ten(int64_t value) {
  return (value % 10 + 10) % 10;
}

/// Computes the term's power and value by multiplication; false if either has more than 18 digits.
bool evaluate(int64_t x, Term& term) {
  constexpr int64_t kLimit = 1'000'000'000'000'000'000;
  // A larger |x| leaves the limit after at most 60 steps, a smaller one repeats itself.
  const int64_t steps = x >= -1 && x <= 1 && term.degree > 1 ? 2 - term.degree % 2 : term.degree;
  term.power = 1;
  for (int64_t i = 0; i < steps; ++i) {
    if (__builtin_mul_overflow(term.power, x, &term.power) || term.power <= -kLimit || term.power >= kLimit) {
      return false;
    }
  }
  return !__builtin_mul_overflow(term.coefficient, term.power, &term.value) && term.value > -kLimit &&
         term.value < kLimit;
}

/// The generator's answer: the value of the polynomial, divided at the end.
int64_t answer_by_value(const Problem& problem) {
  int64_t value = 0;
  for (const Term& term : problem.terms) value += term.value;
  return modulo_ten(value);
}

/// The solver's answer: last digits throughout, powers by squaring.
int64_t answer_by_last_digits(const Problem& problem) {
  int64_t sum = 0;
  for (const Term& term : problem.terms) {
    int64_t power = 1;
    int64_t square = modulo_ten(problem.x);
    for (int64_t degree = term.degree; degree > 0; degree /= 2) {
      if (degree % 2 == 1) power = power * square % 10;
      square = square * square % 10;
    }
    sum = (sum + modulo_ten(term.coefficient) * power) % 10;
  }
  return sum;
}

void append_term(std::string& text, const Term& term, Wording wording) {
  append_spaced(text, term.coefficient);
  text += wording == Wording::printed ? " x ** " : " * x ** ";
  append_spaced(text, term.degree);
}

void append_terms(std::string& text, const Problem& problem, Wording wording) {
  for (size_t i = 0; i < problem.terms.size(); ++i) {
    if (i > 0) text += " + ";
    append_term(text, problem.terms[i], wording);
  }
}

void append_prompt(const Problem& problem, Wording wording, std::string& text) {
  text += wording == Wording::printed ? "Evaluate x = " : "Evaluate at x = ";
  append_spaced(text, problem.x);
  text += wording == Wording::printed ? " in (" : " in ";
  append_terms(text, problem, wording);
  text += wording == Wording::printed ? ") % 10 ?" : " ?";
}

void append_steps(const Problem& problem, Wording wording, const Scratchpad& format, std::string& text) {
  // What remains after a step is always an end of this text.
  thread_local std::string terms;
  terms.clear();
  append_terms(terms, problem, wording);
  std::string_view remaining = terms;

  ScratchpadWriter pad(format, text);
  int64_t sum = 0;
  for (const Term& term : problem.terms) {
    const std::string_view input = remaining.substr(0, remaining.find(" + "));
    remaining.remove_prefix(std::min(remaining.size(), input.size() + 3));
    pad.begin_step();
    if (pad.input()) {
      text += ' ';
      text += input;
    }
    if (pad.computation()) {
      text += ' ';
      append_spaced(text, term.coefficient);
      text += " * ";
      append_spaced(text, problem.x);
      text += " ** ";
      append_spaced(text, term.degree);
      text += " = ";
      append_spaced(text, term.coefficient);
      text += " * ";
      append_spaced(text, term.power);
    }
    if (pad.output()) {
      text += ' ';
      append_spaced(text, term.value);
    }
    const int64_t next_sum = modulo_ten(sum + term.value);
    if (pad.variables()) {
      text += " sum: ";
      append_spaced(text, sum);
      text += " + ";
      append_spaced(text, term.value);
      text += " = ";
      append_spaced(text, next_sum);
      pad.end_variables();
    }
    sum = next_sum;
    if (pad.remaining() && !remaining.empty()) {
      text += ' ';
      text += remaining;
    }
  }
  pad.finish();
}

void append_target(const Problem& problem, int64_t answer, Wording wording, const Scratchpad& format,
                   std::string& text) {
  if (format.any()) append_steps(problem, wording, format, text);
  text += "The answer is ";
  append_number(text, answer);
  text += '.';
}

/// `3x` -> `3 x`: the two would read as one word.
std::string part_numbers_from_x(std::string_view prompt) {
  std::string text;
  text.reserve(prompt.size());
  char previous = ' ';
  for (const char c : prompt) {
    if (c == 'x' && is_digit(previous)) text += ' ';
    text += previous = c;
  }
  return text;
}

Term read_term(PromptReader& reader) {
  Term term;
  term.coefficient = reader.integer();
  reader.accept("*");
  reader.expect("x **");
  term.degree = reader.natural();
  return term;
}

class Polynomial : public Task {
 public:
  const TaskInfo& info() const override {
    static const TaskInfo info{.name = "polynomial",
                               .summary = "evaluate a polynomial modulo 10",
                               .group = "reasoning",
                               .paper = "s2s_poly/n_terms_tr8_ts16",
                               .unit = "terms",
                               .train = {1, 8},
                               .test = {9, 16},
                               .scratchpad = true,
                               .variables = true,
                               .answer = AnswerKind::number};
    return info;
  }

  void generate(const Draw& draw, const Style& style, Example& out) const override {
    Rng rng = draw.rng.at(static_cast<uint64_t>(draw.index));
    thread_local Problem problem;
    problem.x = rng.between(-2, 2);
    problem.terms.resize(static_cast<size_t>(draw.bin.length));
    for (Term& term : problem.terms) {
      term.coefficient = rng.between(-3, 3);
      term.degree = rng.between(0, 3);
      evaluate(problem.x, term);
    }
    out.length = draw.bin.length;
    out.category.clear();
    append_number(out.category, out.length);
    out.prompt.clear();
    append_prompt(problem, style.wording, out.prompt);
    out.target.clear();
    append_target(problem, answer_by_value(problem), style.wording,
                  checked_scratchpad(info(), style.scratchpad, out.length), out.target);
  }

  std::string solve(std::string_view prompt, const Scratchpad& scratchpad) const override {
    const std::string text = part_numbers_from_x(prompt);
    PromptReader reader(text);
    reader.expect("Evaluate");
    const Wording wording = reader.accept("at") ? Wording::released : Wording::printed;
    Problem problem;
    reader.expect("x =");
    problem.x = reader.integer();
    reader.expect("in");
    if (wording == Wording::printed) reader.expect("(");
    do {
      problem.terms.push_back(read_term(reader));
    } while (reader.accept("+") || reader.peek() == "-");
    if (wording == Wording::printed) reader.expect(") % 10");
    reader.expect("?");
    reader.expect_end();

    const Scratchpad format = checked_scratchpad(info(), scratchpad, static_cast<int64_t>(problem.terms.size()));
    if (format.any()) {
      for (Term& term : problem.terms) {
        if (!evaluate(problem.x, term)) {
          reader.fail_because(fmt::format("{} * {} ** {} has more than 18 digits, too many for a scratchpad",
                                          term.coefficient, problem.x, term.degree));
        }
      }
    }
    std::string target;
    append_target(problem, answer_by_last_digits(problem), wording, format, target);
    return target;
  }

  std::vector<std::string> lexicon() const override {
    return {"Evaluate x = 3 in (3 x ** 0 + 1 x ** 1) % 10 ?",
            "Evaluate at x = - 2 in 2 * x ** 3 ?",
            "(- 3",
            "The answer is 5.",
            digit_lexicon(),
            "sum: = + * ** -",
            scratchpad_lexicon()};
  }
};

}  // namespace

TaskList make_polynomial() {
  return single_task<Polynomial>();
}

}  // namespace lengthwise
