#include "gpu_kernels/device.cuh"
#include "gpu_kernels/sort_rows.h"

namespace lengthwise::gpu {
namespace {

constexpr int kSorted = 32;  ///< rows a block finds the places of
constexpr int kSlices = 8;   ///< threads that share the counting for one row
constexpr int kTile = 1024;  ///< keys in shared memory at a time

/// A row's place is the number of rows that come before it, so it is counted.
__global__ void __launch_bounds__(kSorted* kSlices)
    count_kernel(const int32_t* keys, const int32_t* rows, int capacity, int32_t* order) {
  begin();
  alignas(16) __shared__ int32_t tile[kTile];
  __shared__ int counts[kSlices][kSorted];
  const int real = rows != nullptr ? *rows : capacity;
  const int lane = static_cast<int>(threadIdx.x) % kSorted;
  const int slice = static_cast<int>(threadIdx.x) / kSorted;
  const int row = static_cast<int>(blockIdx.x) * kSorted + lane;
  const int32_t key = row < real ? keys[row] : INT_MAX;
  int before = 0;
  for (int first = 0; first < real; first += kTile) {
    const int count = min(kTile, real - first);
    __syncthreads();
    for (int i = static_cast<int>(threadIdx.x); i < kTile; i += kSorted * kSlices) {
      tile[i] = i < count ? keys[first + i] : INT_MAX;
    }
    __syncthreads();
    // An equal key counts when its row is smaller: always, never, or in the tile of the row itself sometimes.
    const int first_row = static_cast<int>(blockIdx.x) * kSorted;
    if (first + kTile <= first_row || first >= first_row + kSorted) {
      const int32_t limit = first < first_row && key != INT_MAX ? key + 1 : key;
#pragma unroll 8
      for (int i = 4 * slice; i < kTile; i += 4 * kSlices) {
        const int4 four = *reinterpret_cast<const int4*>(tile + i);
        before +=
            (four.x < limit ? 1 : 0) + (four.y < limit ? 1 : 0) + (four.z < limit ? 1 : 0) + (four.w < limit ? 1 : 0);
      }
      continue;
    }
    for (int i = slice; i < count; i += kSlices) {
      const int32_t other = tile[i];
      before += other < key || (other == key && first + i < row) ? 1 : 0;
    }
  }
  counts[slice][lane] = before;
  __syncthreads();
  if (slice != 0 || row >= capacity) return;
  for (int s = 1; s < kSlices; ++s) before += counts[s][lane];
  order[row < real ? before : row] = row;
}

constexpr int64_t kMostCounted = 8192;
constexpr int kRun = 1024;

/// Sorts a run of rows. A number of 64 bits is a key and its row, so that no two are equal; rows that are not there
/// have the largest key.
__global__ void __launch_bounds__(kRun)
    run_kernel(const int32_t* keys, const int32_t* rows, int capacity, uint64_t* runs) {
  begin();
  __shared__ uint64_t run[kRun];
  const int real = rows != nullptr ? *rows : capacity;
  const int thread = static_cast<int>(threadIdx.x);
  const int row = static_cast<int>(blockIdx.x) * kRun + thread;
  run[thread] = static_cast<uint64_t>(row < real ? keys[row] : INT_MAX) << 32 | static_cast<uint32_t>(row);
  for (int size = 2; size <= kRun; size *= 2) {
    for (int step = size / 2; step > 0; step /= 2) {
      __syncthreads();
      const int other = thread ^ step;
      if (other < thread) continue;
      const uint64_t low = run[thread], high = run[other];
      if ((low > high) != ((thread & size) == 0)) continue;
      run[thread] = high;
      run[other] = low;
    }
  }
  __syncthreads();
  runs[row] = run[thread];
}

/// A row's place is its place in its own run and the number of smaller ones in all others.
__global__ void __launch_bounds__(kRun) place_kernel(const uint64_t* runs, int capacity, int32_t* order) {
  begin();
  __shared__ uint64_t other[kRun];
  const int thread = static_cast<int>(threadIdx.x);
  const uint64_t own = runs[static_cast<int64_t>(blockIdx.x) * kRun + thread];
  int place = thread;
  for (unsigned run = 0; run < gridDim.x; ++run) {
    if (run == blockIdx.x) continue;
    __syncthreads();
    other[thread] = runs[static_cast<int64_t>(run) * kRun + thread];
    __syncthreads();
    int below = 0;
#pragma unroll
    for (int step = kRun / 2; step > 0; step /= 2) {
      if (other[below + step - 1] < own) below += step;
    }
    place += below + (other[below] < own ? 1 : 0);
  }
  if (place < capacity) order[place] = static_cast<int32_t>(own & 0xffffffffu);
}

}  // namespace

int64_t sort_rows_scratch(int64_t capacity) {
  return capacity <= kMostCounted ? 0 : (capacity + kRun - 1) / kRun * kRun;
}

void sort_rows(const int32_t* keys, const int32_t* rows, int64_t capacity, int32_t* order, uint64_t* scratch,
               cudaStream_t stream) {
  if (capacity == 0) return;
  if (capacity <= kMostCounted) {
    return launch("sort_rows", count_kernel, static_cast<unsigned>((capacity + kSorted - 1) / kSorted),
                  kSorted * kSlices, 0, stream, keys, rows, static_cast<int>(capacity), order);
  }
  require(scratch != nullptr, "sorting so many rows wants scratch memory");
  const auto blocks = static_cast<unsigned>(sort_rows_scratch(capacity) / kRun);
  launch("sort_rows, runs", run_kernel, blocks, kRun, 0, stream, keys, rows, static_cast<int>(capacity), scratch);
  launch("sort_rows, places", place_kernel, blocks, kRun, 0, stream, scratch, static_cast<int>(capacity), order);
}

}  // namespace lengthwise::gpu
