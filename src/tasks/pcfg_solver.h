#pragma once
/// Reads a PCFG SET source in prefix notation and works it out. Apart from the generator in pcfg.cc on purpose.
///
/// Takes literals of one symbol or more, although the corpus has two to five. At most 10,000 functions and, over all
/// intermediate results, kPcfgMaxSymbols symbols; nothing recurses, so no input can exhaust the stack.
#include <cstdint>
#include <vector>

#include "tasks/pcfg_language.h"
#include "tasks/prompt_reader.h"

namespace lengthwise {

struct PcfgProblem {
  std::vector<PcfgWord> source;
  std::vector<PcfgWord> target;
  int64_t functions = 0;
};

/// Reads up to a `[SEP]` or the end. Throws UserError that says at which word the source is wrong, or that it is too
/// large.
PcfgProblem read_pcfg(PromptReader& reader);

}  // namespace lengthwise
