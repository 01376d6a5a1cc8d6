#pragma once
/// Float weights kept as two halves of 16 bits: what the products read, and what is missing from it.
///
///     mirror = the weight rounded to the nearest bfloat16, of two the even one,   low = the lower 16 bits of the float
///     float bits = (mirror << 16) + low, with low as a signed number
///
/// so that an optimizer that needs both the float and its bfloat16 copy moves 8 bytes a weight instead of 10. Both ways
/// are exact but for a float halfway between two bfloat16 whose mirror is the lower one: it is moved towards that by
/// its last bit.
#include "gpu_kernels/launch.h"

namespace lengthwise::gpu {

/// `count` is a multiple of 4 in both.
void split_values(const float* values, int64_t count, void* mirror, uint16_t* low, cudaStream_t stream);
void join_values(const void* mirror, const uint16_t* low, int64_t count, float* values, cudaStream_t stream);

}  // namespace lengthwise::gpu
