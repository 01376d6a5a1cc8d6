#include "gpu/out_of_memory.h"

#include <c10/cuda/CUDACachingAllocator.h>
#include <cuda_runtime_api.h>

#include "core/error.h"
#include "gpu/gpu.h"

namespace lengthwise {

int64_t gpu_peak_bytes() {
  const auto stats = c10::cuda::CUDACachingAllocator::getDeviceStats(0);
  return stats.reserved_bytes[static_cast<size_t>(c10::CachingAllocator::StatType::AGGREGATE)].peak;
}

void fail_out_of_memory(const std::string& what) {
  size_t free = 0;
  size_t total = 0;
  cudaMemGetInfo(&free, &total);
  const auto gibibytes = [](size_t bytes) { return static_cast<double>(bytes) / (1 << 30); };
  fail(
      "the GPU is out of memory while {}: {:.1f} of its {:.1f} GiB are free; a smaller --batch-size or --model, "
      "a larger --accumulate, shorter --train-lengths, fewer --jobs, or --device cpu would fit",
      what, gibibytes(free), gibibytes(total));
}

}  // namespace lengthwise
