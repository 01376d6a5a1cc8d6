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

struct RowJobs {
  RowJob jobs[kMostRowJobs];
};

__global__ void __launch_bounds__(kBlock)
    gather_kernel(const int32_t* index, int64_t rows, const __grid_constant__ RowJobs all) {
  begin();
  const int64_t row = (static_cast<int64_t>(blockIdx.x) * kBlock + threadIdx.x) / 32;
  if (row >= rows) return;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const RowJob job = all.jobs[blockIdx.y];
  const int64_t source = index[row];
  if (job.row_bytes % 16 == 0) {
    move_row<uint4>(job, row, source, lane);
  } else {
    move_row<uint32_t>(job, row, source, lane);
  }
}

/// An element here is four of the array's where all columns are multiples of four, else one.
template <class Element>
__global__ void __launch_bounds__(kBlock)
    columns_kernel(const Element* from, Element* to, int from_columns, int to_columns) {
  begin();
  const auto row = static_cast<int64_t>(blockIdx.x);
  from += row * from_columns;
  to += row * to_columns;
  for (int c = static_cast<int>(threadIdx.x); c < to_columns; c += kBlock)
    to[c] = c < from_columns ? from[c] : Element{};
}

}  // namespace

void copy_columns(const ColumnJob& job, cudaStream_t stream) {
  if (job.rows == 0) return;
  const int64_t bytes = bytes_of(job.storage);
  const auto run = [&]<class Element>(Element) {
    const auto size = static_cast<int64_t>(sizeof(Element));
    launch("copy_columns", columns_kernel<Element>, static_cast<unsigned>(job.rows), kBlock, 0, stream,
           static_cast<const Element*>(job.from), static_cast<Element*>(job.to),
           static_cast<int>(job.from_columns * bytes / size), static_cast<int>(job.to_columns * bytes / size));
  };
  const bool fours = job.from_columns % 4 == 0 && job.to_columns % 4 == 0;
  if (job.storage == Storage::float32) return fours ? run(uint4{}) : run(uint32_t{});
  fours ? run(uint2{}) : run(uint16_t{});
}

void gather_rows(const int32_t* index, int64_t rows, std::span<const RowJob> jobs, cudaStream_t stream) {
  if (rows == 0) return;
  for (size_t first = 0; first < jobs.size(); first += kMostRowJobs) {
    const auto some = jobs.subspan(first, std::min<size_t>(kMostRowJobs, jobs.size() - first));
    RowJobs all;
    for (size_t job = 0; job < some.size(); ++job) {
      require(some[job].row_bytes % 4 == 0, "gather_rows moves whole 4-byte words");
      all.jobs[job] = some[job];
    }
    const dim3 grid(static_cast<unsigned>((rows + kBlock / 32 - 1) / (kBlock / 32)),
                    static_cast<unsigned>(some.size()));
    launch("gather_rows", gather_kernel, grid, kBlock, 0, stream, index, rows, all);
  }
}

}  // namespace lengthwise::gpu
