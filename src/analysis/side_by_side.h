#pragma once
/// Work on several small problems at once, one to a core.
#include <cstdint>
#include <functional>

namespace lengthwise {

/// Calls function(i) for 0 <= i < count, several at a time. Inside, libraries of linear algebra run with one thread:
/// MKL, asked from within a parallel region, cuts a decomposition into pieces for threads that it does not get there,
/// and what it gives back is wrong.
void side_by_side(int64_t count, const std::function<void(int64_t)>& function);

}  // namespace lengthwise
