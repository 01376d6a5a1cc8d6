#include "core/error.h"
#include "core/text.h"
#include "theory/construction.h"

namespace lengthwise {

// One line per construction, which is defined in a file of its own.
#define LENGTHWISE_CONSTRUCTIONS(CONSTRUCTION) \
  CONSTRUCTION(kAbsolute)                      \
  CONSTRUCTION(kRelative)                      \
  CONSTRUCTION(kAlibiHead)                     \
  CONSTRUCTION(kWindowHead)                    \
  CONSTRUCTION(kNoMask)                        \
  CONSTRUCTION(kNoFirst)                       \
  CONSTRUCTION(kFirstTwice)                    \
  CONSTRUCTION(kNormAdded)                     \
  CONSTRUCTION(kConstantSequence)              \
  CONSTRUCTION(kFirstLayer)                    \
  CONSTRUCTION(kDiagonalHead)                  \
  CONSTRUCTION(kPreviousHead)                  \
  CONSTRUCTION(kUnits)

#define LENGTHWISE_DECLARE(construction) extern const Construction construction;
LENGTHWISE_CONSTRUCTIONS(LENGTHWISE_DECLARE)
#undef LENGTHWISE_DECLARE

std::span<const Construction> constructions() {
#define LENGTHWISE_ENTRY(construction) construction,
  static const Construction list[] = {LENGTHWISE_CONSTRUCTIONS(LENGTHWISE_ENTRY)};
#undef LENGTHWISE_ENTRY
  return list;
}

const Construction& find_construction(std::string_view name) {
  std::vector<std::string> names;
  for (const Construction& entry : constructions()) {
    if (entry.name == name) return entry;
    names.emplace_back(entry.name);
  }
  fail("there is no construction '{}'; there are {}{}", excerpt(name), join(names, ", "), did_you_mean(name, names));
}

}  // namespace lengthwise
