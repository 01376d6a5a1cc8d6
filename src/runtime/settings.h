#pragma once
/// What the machine decides about a run: the one place that sets torch's global switches, and the choice of device and
/// precision.
#include <cstdint>
#include <string>

namespace lengthwise {

/// UserError for a number of threads that would only stand in each other's way: more than eight for each core, and more
/// than 64.
void check_threads(int64_t threads);

/// Threads that operations called from this thread are spread over; 0: one per core. Several threads may each have
/// their own number. Checked as above.
void set_threads(int64_t threads);

/// `cpu` or `cuda`; `auto` becomes cuda where this build and this machine have it. UserError for a GPU that is not
/// there.
std::string device_here(const std::string& device);

/// `fp32`, `tf32` and `bf16` as they are; `auto` becomes bf16 where the device multiplies bfloat16 in hardware,
/// otherwise fp32; empty becomes fp32 on the CPU and bf16 on a GPU. UserError for what the device does not have.
std::string precision_here(const std::string& precision, const std::string& device);

}  // namespace lengthwise
