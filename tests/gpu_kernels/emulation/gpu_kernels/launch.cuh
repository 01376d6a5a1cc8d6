#pragma once
/// In place of src/gpu_kernels/launch.cuh: a launch runs the kernel on the CPU and is over when it returns.
#include <cuda_runtime.h>

#include "gpu_kernels/launch.h"

namespace lengthwise::gpu {

inline void begin() {}

template <class... Parameters, class... Arguments>
void launch(const char*, void (*kernel)(Parameters...), dim3 grid, dim3 block, size_t shared, cudaStream_t,
            Arguments&&... arguments) {
  emulator::run(grid, block, shared, [&] { kernel(static_cast<Parameters>(arguments)...); });
}

inline unsigned char* dynamic_shared() {
  return emulator::shared_memory();
}

}  // namespace lengthwise::gpu
