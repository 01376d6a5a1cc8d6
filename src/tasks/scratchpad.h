#pragma once
/// The text between prompt and answer: steps, each made of the components a `Scratchpad` turns on.
///
///     Thinking step by step: in 5, 7 comp 5 + 7 + carry = 12 + 0 = 12 out 2 [ carry: 1 ] re 9 + 0 # in 9, 0 ...
///     . Thus, The answer is 1 0 2.
///
/// Components of a step always stand in the order input, computation, output, variables, remaining. The authors' code
/// leaves double spaces at empty contents; their tokenizer collapses them, and here they are never written.
#include <string>
#include <string_view>

#include "tasks/style.h"

namespace lengthwise {

/// Appends a scratchpad to a target. A task writes the content of a component straight into the target:
///
///     ScratchpadWriter pad(style.scratchpad, out.target);
///     pad.begin_step();
///     if (pad.input()) append(out.target, ...);        // true: the marker is written and the content is due
///     if (pad.variables()) { ...; pad.end_variables(); }
///     pad.finish();                                    // the answer sentence follows
///
/// Contents start with a space unless they are empty.
class ScratchpadWriter {
 public:
  ScratchpadWriter(const Scratchpad& format, std::string& text) : format_(format), text_(text) {}

  void begin_step();
  bool input() { return component(format_.input, " in"); }
  bool computation() { return component(format_.computation, " comp"); }
  bool output() { return component(format_.output, " out"); }
  bool variables() { return component(format_.variables, " ["); }
  void end_variables() { text_ += " ]"; }
  bool remaining() { return component(format_.remaining, " re"); }
  void finish();

 private:
  bool component(bool on, const char* marker) {
    if (on) text_ += marker;
    return on;
  }

  const Scratchpad format_;
  std::string& text_;
  bool started_ = false;
};

/// What follows the scratchpad, or the whole text when there is none.
std::string_view after_scratchpad(std::string_view target);

/// A text with every marker of a scratchpad, for Task::lexicon().
std::string scratchpad_lexicon();

}  // namespace lengthwise
