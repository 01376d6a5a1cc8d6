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

using Digits = std::vector<int>;

void append_sum(std::string& text, const Digits& digits) {
  for (size_t i = 0; i < digits.size(); ++i) {
    if (i > 0) text += " + ";
    append_number(text, digits[i]);
  }
}

void append_prompt(const Digits& digits, Wording wording, std::string& text) {
  text += wording == Wording::printed ? "Compute: (" : "Compute: ";
  append_sum(text, digits);
  text += wording == Wording::printed ? ") % 10 ?" : " .[SEP]";
}

void append_steps(const Digits& digits, const Scratchpad& format, std::string& text) {
  // What remains after a step is always an end of this text, four characters shorter each time: `7 + `.
  thread_local std::string all;
  all.clear();
  append_sum(all, digits);
  std::string_view remaining = all;

  ScratchpadWriter pad(format, text);
  int sum = 0;
  for (const int digit : digits) {
    const int total = digit + sum;
    remaining.remove_prefix(std::min<size_t>(remaining.size(), 4));
    pad.begin_step();
    if (pad.input()) {
      text += ' ';
      append_number(text, digit);
    }
    if (pad.computation()) {
      text += ' ';
      append_number(text, digit);
      text += " + sum = ";
      append_number(text, digit);
      text += " + ";
      append_number(text, sum);
      text += " =";
    }
    if (pad.output()) {
      text += ' ';
      append_spaced(text, total);
    }
    sum = total % 10;
    if (pad.variables()) {
      text += " sum: ";
      append_spaced(text, total);
      text += " = ";
      append_number(text, sum);
      pad.end_variables();
    }
    if (pad.remaining() && !remaining.empty()) {
      text += ' ';
      text += remaining;
    }
  }
  pad.finish();
}

void append_target(const Digits& digits, int64_t answer, Wording wording, const Scratchpad& format, std::string& text) {
  if (format.any()) append_steps(digits, format, text);
  text += "The answer is ";
  append_number(text, answer);
  text += wording == Wording::printed ? "." : " .";
}

/// The generator's answer: the sum, divided at the end.
int64_t answer_by_sum(const Digits& digits) {
  int64_t sum = 0;
  for (const int digit : digits) sum += digit;
  return sum % 10;
}

/// The solver's answer: how often each digit occurs, weighted.
int64_t answer_by_counting(const Digits& digits) {
  std::array<int64_t, 10> times{};
  for (const int digit : digits) ++times[static_cast<size_t>(digit)];
  int64_t answer = 0;
  for (int64_t digit = 1; digit <= 9; ++digit) answer += digit * (times[static_cast<size_t>(digit)] % 10);
  return answer % 10;
}

class Summation : public Task {
 public:
  const TaskInfo& info() const override {
    static const TaskInfo info{.name = "summation",
                               .summary = "add digits modulo 10",
                               .group = "reasoning",
                               .paper = "s2s_sum/len_tr8_ts16",
                               .unit = "digits to add",
                               .train = {2, 8},
                               .test = {9, 16},
                               .scratchpad = true,
                               .variables = true,
                               .answer = AnswerKind::number};
    return info;
  }

  void generate(const Draw& draw, const Style& style, Example& out) const override {
    Rng rng = draw.rng.at(static_cast<uint64_t>(draw.index));
    thread_local Digits digits;
    digits.resize(static_cast<size_t>(draw.bin.length));
    for (int& digit : digits) digit = static_cast<int>(rng.between(1, 9));
    out.length = draw.bin.length;
    out.category.clear();
    append_number(out.category, out.length);
    out.prompt.clear();
    append_prompt(digits, style.wording, out.prompt);
    out.target.clear();
    append_target(digits, answer_by_sum(digits), style.wording,
                  checked_scratchpad(info(), style.scratchpad, out.length), out.target);
  }

  std::string solve(std::string_view prompt, const Scratchpad& scratchpad) const override {
    PromptReader reader(prompt);
    reader.expect("Compute:");
    const Wording wording = reader.accept("(") ? Wording::printed : Wording::released;
    Digits digits;
    do {
      digits.push_back(reader.digit());
    } while (reader.accept("+"));
    if (wording == Wording::printed) {
      reader.expect(") % 10 ?");
    } else {
      reader.expect(".");
      reader.accept("[SEP]");
    }
    reader.expect_end();
    std::string target;
    append_target(digits, answer_by_counting(digits), wording,
                  checked_scratchpad(info(), scratchpad, static_cast<int64_t>(digits.size())), target);
    return target;
  }

  std::vector<std::string> lexicon() const override {
    return {"Compute: (1 + 2) % 10 ?", "Compute: 1 + 2 .[SEP]",    "The answer is 7.",  "The answer is 8 .",
            digit_lexicon(),           "7 + sum = [ sum: 7 = 7 ]", scratchpad_lexicon()};
  }
};

}  // namespace

TaskList make_summation() {
  return single_task<Summation>();
}

}  // namespace lengthwise
