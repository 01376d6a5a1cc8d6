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

/// Digits, most significant first.
using Digits = std::string;  // characters '0'..'9'

struct Problem {
  Digits a, b;
};

void append_digits(std::string& text, std::string_view digits) {
  for (size_t i = 0; i < digits.size(); ++i) {
    if (i > 0) text += ' ';
    text += digits[i];
  }
}

std::string_view without_leading_zeros(std::string_view digits) {
  while (digits.size() > 1 && digits.front() == '0') digits.remove_prefix(1);
  return digits;
}

int digit_from_right(std::string_view digits, size_t place) {
  return place < digits.size() ? digits[digits.size() - 1 - place] - '0' : 0;
}

/// The generator's sum: column by column, carrying.
void add_by_columns(const Problem& problem, Digits& sum) {
  const size_t places = std::max(problem.a.size(), problem.b.size());
  sum.clear();
  int carry = 0;
  for (size_t place = 0; place < places; ++place) {
    const int total = digit_from_right(problem.a, place) + digit_from_right(problem.b, place) + carry;
    sum += static_cast<char>('0' + total % 10);
    carry = total / 10;
  }
  if (carry > 0) sum += '1';
  std::reverse(sum.begin(), sum.end());
}

/// The solver's sum: nine digits at a time in base 10^9.
Digits add_by_limbs(const Problem& problem) {
  constexpr size_t kLimb = 9;
  constexpr uint64_t kBase = 1'000'000'000;
  const auto limb_at = [](std::string_view digits, size_t limb) {
    uint64_t value = 0;
    for (size_t place = (limb + 1) * kLimb; place-- > limb * kLimb;) {
      value = value * 10 + static_cast<uint64_t>(digit_from_right(digits, place));
    }
    return value;
  };
  const size_t limbs = std::max(problem.a.size(), problem.b.size()) / kLimb + 1;
  Digits sum(limbs * kLimb, '0');
  uint64_t carry = 0;
  for (size_t limb = 0; limb < limbs; ++limb) {
    const uint64_t total = limb_at(problem.a, limb) + limb_at(problem.b, limb) + carry;
    carry = total / kBase;
    const std::string digits = fmt::format("{:09}", total % kBase);
    std::copy(digits.begin(), digits.end(), sum.end() - static_cast<std::ptrdiff_t>((limb + 1) * kLimb));
  }
  return Digits(without_leading_zeros(sum));
}

void append_prompt(const Problem& problem, Wording wording, std::string& text) {
  text += wording == Wording::printed ? "Compute: " : "Compute ";
  append_digits(text, problem.a);
  text += " + ";
  append_digits(text, problem.b);
  text += " ?";
}

/// What is left of a number once `done` places are: its upper digits as an integer, or nothing.
void append_rest(std::string& text, std::string_view digits, size_t places, size_t done) {
  if (done == places) return;
  text += ' ';
  if (done >= digits.size()) {
    text += '0';
  } else {
    append_digits(text, without_leading_zeros(digits.substr(0, digits.size() - done)));
  }
}

void append_steps(const Problem& problem, const Scratchpad& format, std::string& text) {
  ScratchpadWriter pad(format, text);
  const size_t places = std::max(problem.a.size(), problem.b.size());
  int carry = 0;
  for (size_t place = 0; place < places || carry > 0; ++place) {
    const int a = digit_from_right(problem.a, place);
    const int b = digit_from_right(problem.b, place);
    const int total = a + b + carry;
    pad.begin_step();
    if (pad.input()) {
      text += ' ';
      append_number(text, a);
      text += ", ";
      append_number(text, b);
    }
    if (pad.computation()) {
      text += ' ';
      append_number(text, a);
      text += " + ";
      append_number(text, b);
      text += " + carry = ";
      append_number(text, a + b);
      text += " + ";
      append_number(text, carry);
      text += " = ";
      append_number(text, total);
    }
    if (pad.output()) {
      text += ' ';
      append_number(text, total % 10);
    }
    carry = total / 10;
    if (pad.variables()) {
      text += " carry: ";
      append_number(text, carry);
      pad.end_variables();
    }
    if (pad.remaining()) {
      const size_t done = std::min(place + 1, places);
      append_rest(text, problem.a, places, done);
      text += " +";
      append_rest(text, problem.b, places, done);
    }
  }
  pad.finish();
}

void append_target(const Problem& problem, std::string_view sum, const Scratchpad& format, std::string& text) {
  if (format.any()) append_steps(problem, format, text);
  text += "The answer is ";
  append_digits(text, sum);
  text += '.';
}

class Addition : public Task {
 public:
  const TaskInfo& info() const override {
    static const TaskInfo info{.name = "addition",
                               .summary = "add two numbers of up to so many digits",
                               .group = "reasoning",
                               .paper = "s2s_addition/len_tr8_ts16",
                               .unit = "digits of the longer number",
                               .train = {1, 8},
                               .test = {9, 16},
                               .scratchpad = true,
                               .variables = true,
                               .answer = AnswerKind::number};
    return info;
  }

  /// One bin for every pair of digit counts whose larger one lies in the range.
  std::vector<Bin> plan(LengthRange lengths, int64_t count, Split) const override {
    constexpr int64_t kMaxDigits = 1000;
    if (lengths.high > kMaxDigits) {
      fail("addition: every pair of digit counts is a bin of its own, and lengths go up to {}; these are {}",
           kMaxDigits, to_text(lengths));
    }
    std::vector<Bin> bins;
    for (int64_t p = 1; p <= lengths.high; ++p) {
      for (int64_t q = 1; q <= lengths.high; ++q) {
        if (lengths.contains(std::max(p, q))) bins.push_back({.length = std::max(p, q), .first = p, .second = q});
      }
    }
    for (Bin& bin : bins) bin.count = count / static_cast<int64_t>(bins.size());
    return bins;
  }

  void generate(const Draw& draw, const Style& style, Example& out) const override {
    Rng rng = draw.rng.at(static_cast<uint64_t>(draw.index));
    thread_local Problem problem;
    thread_local Digits sum;
    draw_number(rng, draw.bin.first, problem.a);
    draw_number(rng, draw.bin.second, problem.b);
    add_by_columns(problem, sum);
    out.length = draw.bin.length;
    out.category.clear();
    append_number(out.category, draw.bin.first);
    out.category += "-by-";
    append_number(out.category, draw.bin.second);
    out.prompt.clear();
    append_prompt(problem, style.wording, out.prompt);
    out.target.clear();
    append_target(problem, sum, checked_scratchpad(info(), style.scratchpad, out.length), out.target);
  }

  std::string solve(std::string_view prompt, const Scratchpad& scratchpad) const override {
    PromptReader reader(prompt);
    reader.expect("Compute");
    reader.accept(":");
    Problem problem;
    problem.a = reader.digits();
    reader.expect("+");
    problem.b = reader.digits();
    reader.expect("?");
    reader.expect_end();
    const auto length = static_cast<int64_t>(std::max(problem.a.size(), problem.b.size()));
    std::string target;
    append_target(problem, add_by_limbs(problem), checked_scratchpad(info(), scratchpad, length), target);
    return target;
  }

  std::vector<std::string> lexicon() const override {
    return {"Compute: Compute + ? The answer is 5.", digit_lexicon(), scratchpad_lexicon(),
            "10 11 12 13 14 15 16 17 18 19", "5, 7 + carry = [ carry: 1 ]"};
  }

 private:
  /// Uniform over the numbers of that many digits; one digit may be 0.
  static void draw_number(Rng& rng, int64_t digits, Digits& number) {
    number.clear();
    for (int64_t i = 0; i < digits; ++i) {
      const bool leading = i == 0 && digits > 1;
      number += static_cast<char>('0' + (leading ? rng.between(1, 9) : rng.between(0, 9)));
    }
  }
};

}  // namespace

TaskList make_addition() {
  return single_task<Addition>();
}

}  // namespace lengthwise
