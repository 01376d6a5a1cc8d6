#include "core/error.h"
#include "core/text.h"
#include "theory/construction.h"

namespace lengthwise {

// One line per construction: its name, what it shows, and the function that measures it, defined in a file of its own.
#define LENGTHWISE_CONSTRUCTIONS(CONSTRUCTION)                                                                        \
  CONSTRUCTION("absolute", "the first layer writes the position t into the residual stream", measure_absolute)        \
  CONSTRUCTION("relative", "the second layer's scores are content minus slope times distance", measure_relative)      \
  CONSTRUCTION("alibi-head", "a head of the second layer attends as ALiBi does, with any slope", measure_alibi_head)  \
  CONSTRUCTION("window-head", "a head of the second layer attends to a window of recent tokens", measure_window_head) \
  CONSTRUCTION("no-mask", "control: without the causal mask all positions are the same", measure_no_mask)             \
  CONSTRUCTION("no-first", "control: without the first token there is nothing to count from", measure_no_first)       \
  CONSTRUCTION("first-twice", "control: a second first token halves every count after it", measure_first_twice)       \
  CONSTRUCTION("norm-added", "control: RMSNorm put into the norm-free construction", measure_norm_added)              \
  CONSTRUCTION("constant-sequence", "NoPE on one repeated token: uniform attention in every head", measure_constant)  \
  CONSTRUCTION("first-layer", "NoPE's first layer: under half of the weight on the diagonal", measure_first_layer)    \
  CONSTRUCTION("diagonal-head", "the sharpest diagonal heads, by encoding and layer", measure_diagonal)               \
  CONSTRUCTION("previous-head", "the sharpest previous-token heads, by encoding and layer", measure_previous)         \
  CONSTRUCTION("units", "feed-forward units that turn 1/t into t, by error and length", measure_units)

#define LENGTHWISE_DECLARE(name, summary, measure) std::vector<Finding> measure(const TheoryOptions&);
LENGTHWISE_CONSTRUCTIONS(LENGTHWISE_DECLARE)
#undef LENGTHWISE_DECLARE

namespace {

#define LENGTHWISE_ENTRY(name, summary, measure) Construction{name, summary, &measure},
constexpr Construction kConstructions[] = {LENGTHWISE_CONSTRUCTIONS(LENGTHWISE_ENTRY)};
#undef LENGTHWISE_ENTRY

}  // namespace

std::span<const Construction> constructions() {
  return kConstructions;
}

const Construction& find_construction(std::string_view name) {
  std::vector<std::string> names;
  for (const Construction& entry : kConstructions) {
    if (entry.name == name) return entry;
    names.emplace_back(entry.name);
  }
  fail("there is no construction '{}'; there are {}{}", excerpt(name), join(names, ", "), did_you_mean(name, names));
}

}  // namespace lengthwise
