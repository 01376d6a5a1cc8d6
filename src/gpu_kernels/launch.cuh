#pragma once
/// How kernels are launched: with the right to start before the previous kernel of the stream has ended.
///
/// Every kernel calls begin() before it touches memory: it waits there until all earlier work is complete and visible
/// (programmatic dependent launch), so only the start of a kernel overlaps with the end of the one before. When all its
/// blocks have begun, the next kernel may be placed on the device.
#include <cuda_runtime.h>

#include "gpu_kernels/launch.h"

namespace lengthwise::gpu {

__device__ __forceinline__ void begin() {
  asm volatile("griddepcontrol.wait;" ::: "memory");
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
}

#ifdef LENGTHWISE_PLAIN_LAUNCH
inline constexpr int kLaunchAttributes = 0;
#else
inline constexpr int kLaunchAttributes = 1;
#endif

/// Shared memory beyond 48 KiB is asked for; arguments are converted to the kernel's parameters.
template <class... Parameters, class... Arguments>
void launch(const char* name, void (*kernel)(Parameters...), dim3 grid, dim3 block, size_t shared, cudaStream_t stream,
            Arguments&&... arguments) {
  if (shared > 48 * 1024) {
    check_cuda(cudaFuncSetAttribute(reinterpret_cast<const void*>(kernel), cudaFuncAttributeMaxDynamicSharedMemorySize,
                                    static_cast<int>(shared)),
               name);
  }
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = grid;
  config.blockDim = block;
  config.dynamicSmemBytes = shared;
  config.stream = stream;
  config.attrs = &attribute;
  config.numAttrs = kLaunchAttributes;
  check_cuda(cudaLaunchKernelEx(&config, kernel, static_cast<Parameters>(arguments)...), name);
}

/// The block's dynamic shared memory, at a multiple of what tiles need (group_tiles.cuh).
__device__ __forceinline__ unsigned char* dynamic_shared() {
  extern __shared__ __align__(1024) unsigned char memory[];
  return memory;
}

}  // namespace lengthwise::gpu
