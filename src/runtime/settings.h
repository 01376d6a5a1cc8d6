#pragma once
/// The one place that sets torch's global switches.
#include <cstdint>
#include <string>

namespace lengthwise {

/// threads: that operations called from this thread are spread over; 0: one per core. Several threads may each have
/// their own number. precision `fp32`, or `bf16`: matrix products round their operands to bfloat16 and sum in
/// fp32; parameters, activations and everything else stay fp32. UserError when this CPU has no bf16 instructions.
void apply_settings(int64_t threads, const std::string& precision);

}  // namespace lengthwise
