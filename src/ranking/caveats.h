#pragma once
/// What to say beside the numbers of a comparison.
#include "ranking/comparison.h"

namespace lengthwise {

/// Fills `warnings` and `notes` from everything else.
void add_caveats(Comparison& comparison);

}  // namespace lengthwise
