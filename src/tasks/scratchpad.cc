#include "tasks/scratchpad.h"

#include "core/text.h"

namespace lengthwise {
namespace {

constexpr std::string_view kStart = "Thinking step by step:";
constexpr std::string_view kEnd = ". Thus,";

}  // namespace

void ScratchpadWriter::begin_step() {
  text_ += started_ ? std::string_view(" #") : kStart;
  started_ = true;
}

void ScratchpadWriter::finish() {
  if (!started_) return;
  text_ += ' ';
  text_ += kEnd;
  text_ += ' ';
}

std::string_view after_scratchpad(std::string_view target) {
  const size_t at = target.find(kEnd);
  return at == std::string_view::npos ? target : trim(target.substr(at + kEnd.size()));
}

std::string scratchpad_lexicon() {
  return "Thinking step by step: in comp out [ ] re # . Thus,";
}

}  // namespace lengthwise
