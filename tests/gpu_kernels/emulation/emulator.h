#pragma once
/// Runs a CUDA kernel on the CPU, so that kernels can be tested where there is no GPU.
///
/// The threads of a block are fibers that take turns at barriers and at warp-wide operations; blocks run one after the
/// other. Shared memory is filled with NaN before each block. What this cannot show: races between threads that no
/// barrier separates (fibers switch only at barriers), memory that is out of order, and time.
#include <cstddef>
#include <cstdint>
#include <functional>

#include "cuda_runtime_api.h"

inline dim3 threadIdx, blockIdx, blockDim, gridDim;

namespace lengthwise::emulator {

inline constexpr size_t kSlot = 32;  ///< bytes a lane can give away

void run(dim3 grid, dim3 block, size_t shared, const std::function<void()>& body);

/// The dynamic shared memory of the running block.
unsigned char* shared_memory();

void wait_for_block();

/// Copies to shared memory arrive as late as they may, when their thread waits for them; until then what they replace
/// is NaN. `from` nullptr: zeros.
void copy_later(void* to, const void* from, size_t bytes);
void commit_copies();
void wait_for_copies(uint64_t pending);

/// Waits for all lanes of the warp; gives what each of them brought, lane l's at l * kSlot. Valid until the warp's next
/// exchange but one.
const unsigned char* exchange(const void* mine, size_t bytes);

}  // namespace lengthwise::emulator
