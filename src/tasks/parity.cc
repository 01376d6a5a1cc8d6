#include <algorithm>

#include "core/error.h"
#include "tasks/answer_text.h"
#include "tasks/prompt_reader.h"
#include "tasks/registry.h"
#include "tasks/scratchpad.h"
#include "tasks/scratchpad_check.h"

namespace lengthwise {
namespace {

using Bits = std::vector<int>;

/// `[1 0]` as printed, `[ 1, 0 ]` as released.
void append_bits(std::string& text, const Bits& bits, size_t first, Wording wording) {
  const bool printed = wording == Wording::printed;
  text += '[';
  for (size_t i = first; i < bits.size(); ++i) {
    if (i > first) text += printed ? " " : ", ";
    if (i == first && !printed) text += ' ';
    text += static_cast<char>('0' + bits[i]);
  }
  text += printed ? "]" : " ]";
}

void append_prompt(const Bits& bits, Wording wording, std::string& text) {
  text += "Is the number of 1's even in ";
  if (wording == Wording::released) text += "the sequence ";
  append_bits(text, bits, 0, wording);
  text += " ?";
}

void append_steps(const Bits& bits, Wording wording, const Scratchpad& format, std::string& text) {
  ScratchpadWriter pad(format, text);
  int parity = 0;
  for (size_t i = 0; i < bits.size(); ++i) {
    const int next_parity = bits[i] ^ parity;
    pad.begin_step();
    if (pad.input()) {
      text += ' ';
      append_number(text, bits[i]);
    }
    if (pad.computation()) {
      text += ' ';
      append_number(text, bits[i]);
      text += " ** par = ";
      append_number(text, bits[i]);
      text += " ** ";
      append_number(text, parity);
    }
    if (pad.output()) {
      text += ' ';
      append_number(text, next_parity);
    }
    if (pad.variables()) {
      text += " par: ";
      append_number(text, next_parity);
      pad.end_variables();
    }
    if (pad.remaining()) {
      text += ' ';
      append_bits(text, bits, i + 1, wording);
    }
    parity = next_parity;
  }
  pad.finish();
}

void append_target(const Bits& bits, bool even, Wording wording, const Scratchpad& format, std::string& text) {
  if (format.any()) append_steps(bits, wording, format, text);
  text += even ? "The answer is Yes." : "The answer is No.";
}

class Parity : public Task {
 public:
  const TaskInfo& info() const override {
    static const TaskInfo info{.name = "parity",
                               .summary = "tell whether the number of ones is even",
                               .group = "reasoning",
                               .paper = "s2s_parity/len_tr8_ts16",
                               .unit = "bits",
                               .train = {3, 8},
                               .test = {9, 16},
                               .scratchpad = true,
                               .variables = true,
                               .answer = AnswerKind::statement};
    return info;
  }

  void generate(const Draw& draw, const Style& style, Example& out) const override {
    Rng rng = draw.rng.at(static_cast<uint64_t>(draw.index));
    thread_local Bits bits;
    bits.resize(static_cast<size_t>(draw.bin.length));
    bool even = true;
    for (int& bit : bits) {
      bit = rng.coin() ? 1 : 0;
      even ^= bit == 1;
    }
    out.length = draw.bin.length;
    out.category.clear();
    append_number(out.category, out.length);
    out.prompt.clear();
    append_prompt(bits, style.wording, out.prompt);
    out.target.clear();
    append_target(bits, even, style.wording, checked_scratchpad(info(), style.scratchpad, out.length), out.target);
  }

  std::string solve(std::string_view prompt, const Scratchpad& scratchpad) const override {
    PromptReader reader(prompt);
    reader.expect("Is the number of 1's even in");
    const Wording wording = reader.accept("the sequence") ? Wording::released : Wording::printed;
    reader.expect("[");
    Bits bits;
    do {
      if (reader.peek() != "0" && reader.peek() != "1") reader.fail_expected("0 or 1");
      bits.push_back(reader.digit());
    } while (wording == Wording::printed ? reader.peek() != "]" : reader.accept(","));
    reader.expect("] ?");
    reader.expect_end();
    const bool even = std::count(bits.begin(), bits.end(), 1) % 2 == 0;
    std::string target;
    append_target(bits, even, wording, checked_scratchpad(info(), scratchpad, static_cast<int64_t>(bits.size())),
                  target);
    return target;
  }

  std::vector<std::string> lexicon() const override {
    return {"Is the number of 1's even in [1 0] ?",
            "Is the number of 1's even in the sequence [ 1, 0 ] ?",
            "The answer is Yes. No.",
            "1 ** par = 0 [ par: 1 ] [] [ ]",
            "1, 0,",
            scratchpad_lexicon()};
  }
};

}  // namespace

TaskList make_parity() {
  return single_task<Parity>();
}

}  // namespace lengthwise
