#pragma once
/// Runs that could not be read: said where it cannot be missed, and in the exit status.
#include "results/load_results.h"

namespace lengthwise {

/// Says on standard error which, and throws Exit with 1; nothing happens where there are none.
void end_with_damaged(const Results& results);

}  // namespace lengthwise
