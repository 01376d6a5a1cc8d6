#include <algorithm>

#include "gpu_kernels/device.cuh"
#include "gpu_kernels/rows.h"

namespace lengthwise::gpu {
namespace {

constexpr int kBlock = 256;

template <class Vector>
__device__ __forceinline__ void move_row(RowJob job, int64_t row, int64_t source, int lane) {
  const auto vectors = static_cast<int>(job.row_bytes / static_cast<int64_t>(sizeof(Vector)));
  Vector* to = static_cast<Vector*>(job.to) + row * vectors;
  if (source < 0) {
    for (int c = lane; c < vectors; c += 32) to[c] = Vector{};
    return;
  }
  const Vector* from = static_cast<const Vector*>(job.from) + source * vectors;
  int c = lane;
  for (; c + 3 * 32 < vectors; c += 4 * 32) {
    Vector held[4];
#pragma unroll
    for (int k = 0; k < 4; ++k) held[k] = from[c + 32 * k];
#pragma unroll
    for (int k = 0; k < 4; ++k) to[c + 32 * k] = held[k];
  }
  for (; c < vectors; c += 32) to[c] = from[c];
}

__global__ void __launch_bounds__(kBlock)
    gather_kernel(const int32_t* index, int64_t rows, const __grid_constant__ Jobs<RowJob> all) {
  begin();
  const int64_t row = (static_cast<int64_t>(blockIdx.x) * kBlock + threadIdx.x) / 32;
  if (row >= rows) return;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const RowJob job = all.of[blockIdx.y];
  const int64_t source = index[row];
  if (job.row_bytes % 16 == 0) {
    move_row<uint4>(job, row, source, lane);
  } else {
    move_row<uint32_t>(job, row, source, lane);
  }
}

/// An element here is kElements of the arrays'.
template <class Element, int kElements>
__global__ void __launch_bounds__(kBlock) columns_kernel(const __grid_constant__ Jobs<ColumnJob> all) {
  begin();
  const ColumnJob job = all.of[blockIdx.y];
  const auto row = static_cast<int64_t>(blockIdx.x);
  if (row >= job.rows) return;
  const auto from_columns = static_cast<int>(job.from_columns / kElements);
  const auto to_columns = static_cast<int>(job.to_columns / kElements);
  const Element* from = static_cast<const Element*>(job.from) + row * from_columns;
  Element* to = static_cast<Element*>(job.to) + row * to_columns;
  for (int c = static_cast<int>(threadIdx.x); c < to_columns; c += kBlock)
    to[c] = c < from_columns ? from[c] : Element{};
}

}  // namespace

void copy_columns(Storage storage, std::span<const ColumnJob> jobs, cudaStream_t stream) {
  in_launches(jobs, [&](const Jobs<ColumnJob>& all, std::span<const ColumnJob> some) {
    int64_t rows = 0;
    bool fours = true;
    for (const ColumnJob& job : some) {
      rows = std::max(rows, job.rows);
      fours = fours && job.from_columns % 4 == 0 && job.to_columns % 4 == 0;
    }
    if (rows == 0) return;
    const auto run = [&](void (*kernel)(Jobs<ColumnJob>)) {
      const dim3 grid(static_cast<unsigned>(rows), static_cast<unsigned>(some.size()));
      launch("copy_columns", kernel, grid, kBlock, 0, stream, all);
    };
    if (storage == Storage::float32) return run(fours ? columns_kernel<uint4, 4> : columns_kernel<uint32_t, 1>);
    run(fours ? columns_kernel<uint2, 4> : columns_kernel<uint16_t, 1>);
  });
}

void gather_rows(const int32_t* index, int64_t rows, std::span<const RowJob> jobs, cudaStream_t stream) {
  if (rows == 0) return;
  in_launches(jobs, [&](const Jobs<RowJob>& all, std::span<const RowJob> some) {
    for (const RowJob& job : some) require(job.row_bytes % 4 == 0, "gather_rows moves whole 4-byte words");
    const dim3 grid(static_cast<unsigned>((rows + kBlock / 32 - 1) / (kBlock / 32)),
                    static_cast<unsigned>(some.size()));
    launch("gather_rows", gather_kernel, grid, kBlock, 0, stream, index, rows, all);
  });
}

}  // namespace lengthwise::gpu
