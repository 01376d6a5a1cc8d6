#pragma once
/// What the machine decides about a run: the one place that sets torch's global switches, and the choice of precision.
#include <cstdint>
#include <string>

namespace lengthwise {

/// Threads that operations called from this thread are spread over; 0: one per core. Several threads may each have
/// their own number.
void set_threads(int64_t threads);

/// `fp32` and `bf16` as they are; `auto` becomes bf16 where this CPU multiplies bfloat16 in hardware, otherwise fp32.
/// UserError for bf16 on a CPU that does not.
std::string precision_here(const std::string& precision);

}  // namespace lengthwise
