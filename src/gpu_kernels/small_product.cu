#include <algorithm>

#include "gpu_kernels/device.cuh"
#include "gpu_kernels/small_product.h"
#include "gpu_kernels/tiles.cuh"

namespace lengthwise::gpu {
namespace {

constexpr int kThreads = 128;  ///< four warps, each with a quarter of 32 x 32
constexpr int kTile = 64;
constexpr int kStride = kTileStride<kTile>;
constexpr int kTileSize = kTile * kStride;
constexpr int kRun = 4;  ///< tiles of k in one run

struct Cut {
  int64_t tiles;  ///< of the result
  int64_t steps;  ///< tiles of k
  int64_t run;    ///< of them in one block
  int64_t runs;
};

int64_t tiles_of(int64_t size) {
  return (size + kTile - 1) / kTile;
}

Cut cut_of(int64_t m, int64_t n, int64_t k) {
  Cut cut{tiles_of(m) * tiles_of(n), tiles_of(k), 0, 1};
  cut.run = cut.tiles <= kSmallProductTickets ? std::min<int64_t>(kRun, cut.steps) : cut.steps;
  cut.runs = (cut.steps + cut.run - 1) / cut.run;
  return cut;
}

__device__ __forceinline__ void store_pair(float* to, float x, float y, bool both) {
  if (both) {
    *reinterpret_cast<float2*>(to) = make_float2(x, y);
  } else {
    *to = x;
  }
}
__device__ __forceinline__ void store_pair(bf16* to, float x, float y, bool both) {
  if (both) {
    *reinterpret_cast<uint32_t*>(to) = pack(x, y);
  } else {
    *to = from_float<bf16>(x);
  }
}

template <bool kATransposed, bool kBTransposed, class Out>
__global__ void __launch_bounds__(kThreads) product(Product args, int steps, int run) {
  begin();
  __shared__ __align__(16) bf16 tiles[4 * kTileSize];  // of a and b, twice
  const int row_tile = static_cast<int>(blockIdx.y) * kTile;
  const int column_tile = static_cast<int>(blockIdx.x) * kTile;
  const auto m = static_cast<int>(args.m);
  const auto n = static_cast<int>(args.n);
  const auto k = static_cast<int>(args.k);
  const int first = static_cast<int>(blockIdx.z) * run;
  const int last = min(first + run, steps);
  const auto copy = [&](int step) {
    bf16* a = tiles + (step - first) % 2 * 2 * kTileSize;
    bf16* b = a + kTileSize;
    const int at = step * kTile;
    const bf16* from_a = static_cast<const bf16*>(args.a);
    if constexpr (kATransposed) {
      copy_tile<kTile, kTile, kThreads>(a, from_a + at * args.a_stride + row_tile, args.a_stride, k - at, m - row_tile);
    } else {
      copy_tile<kTile, kTile, kThreads>(a, from_a + row_tile * args.a_stride + at, args.a_stride, m - row_tile, k - at);
    }
    const bf16* from_b = static_cast<const bf16*>(args.b);
    if constexpr (kBTransposed) {
      copy_tile<kTile, kTile, kThreads>(b, from_b + column_tile * args.b_stride + at, args.b_stride, n - column_tile,
                                        k - at);
    } else {
      copy_tile<kTile, kTile, kThreads>(b, from_b + at * args.b_stride + column_tile, args.b_stride, k - at,
                                        n - column_tile);
    }
    copies_commit();
  };

  const int warp = warp_index();
  const int warp_row = warp / 2 * 32;
  const int warp_column = warp % 2 * 32;
  float c[2][4][4];
  clear(c[0]);
  clear(c[1]);
  copy(first);
  for (int step = first; step < last; ++step) {
    if (step + 1 < last) {
      copy(step + 1);
      copies_wait<1>();
    } else {
      copies_wait<0>();
    }
    __syncthreads();
    const bf16* a = tiles + (step - first) % 2 * 2 * kTileSize;
    const bf16* b = a + kTileSize;
#pragma unroll
    for (int at = 0; at < kTile; at += 16) {
      uint32_t rows[2][4];
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        if constexpr (kATransposed) {
          load_a_transposed<kStride>(rows[i], a, at, warp_row + 16 * i);
        } else {
          load_a<kStride>(rows[i], a, warp_row + 16 * i, at);
        }
      }
#pragma unroll
      for (int j = 0; j < 4; j += 2) {
        uint32_t columns[4];
        if constexpr (kBTransposed) {
          load_b<kStride>(columns, b, warp_column + 8 * j, at);
        } else {
          load_b_transposed<kStride>(columns, b, at, warp_column + 8 * j);
        }
#pragma unroll
        for (int i = 0; i < 2; ++i) {
          multiply_add(c[i][j], rows[i], columns[0], columns[1]);
          multiply_add(c[i][j + 1], rows[i], columns[2], columns[3]);
        }
      }
    }
    __syncthreads();
  }

  if (gridDim.z > 1) {
    __shared__ bool is_last;
    const auto tile = static_cast<int64_t>(blockIdx.y * gridDim.x + blockIdx.x);
    const auto thread = static_cast<int64_t>(threadIdx.x);
    float4* parts = reinterpret_cast<float4*>(args.parts) + tile * gridDim.z * (kTile * kTile / 4) + thread;
    const auto part_of = [&](int64_t z, int f) { return parts + z * (kTile * kTile / 4) + f * kThreads; };
#pragma unroll
    for (int f = 0; f < 8; ++f) {
      const float* from = c[f / 4][f % 4];
      *part_of(blockIdx.z, f) = make_float4(from[0], from[1], from[2], from[3]);
    }
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) is_last = atomicAdd(args.tickets + tile, 1u) == gridDim.z - 1;
    __syncthreads();
    if (!is_last) return;
    // Whichever block comes last, it adds the same numbers in the same order.
    __threadfence();
    if (threadIdx.x == 0) args.tickets[tile] = 0;
    clear(c[0]);
    clear(c[1]);
    for (int64_t z = 0; z < gridDim.z; ++z) {
#pragma unroll
      for (int f = 0; f < 8; ++f) {
        const float4 more = __ldcg(part_of(z, f));
        float* to = c[f / 4][f % 4];
        to[0] += more.x;
        to[1] += more.y;
        to[2] += more.z;
        to[3] += more.w;
      }
    }
  }

  const int lane = static_cast<int>(threadIdx.x) % 32;
  Out* out = static_cast<Out*>(args.c);
#pragma unroll
  for (int i = 0; i < 2; ++i) {
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      const int column = column_tile + warp_column + 8 * j + lane % 4 * 2;
      if (column >= n) continue;
#pragma unroll
      for (int r = 0; r < 2; ++r) {
        const int row = row_tile + warp_row + 16 * i + 8 * r + lane / 4;
        if (row >= m) continue;
        store_pair(out + row * args.c_stride + column, c[i][j][2 * r], c[i][j][2 * r + 1], column + 1 < n);
      }
    }
  }
}

template <bool kATransposed, bool kBTransposed>
void run(const Product& args, cudaStream_t stream) {
  const Cut cut = cut_of(args.m, args.n, args.k);
  const dim3 grid(static_cast<unsigned>(tiles_of(args.n)), static_cast<unsigned>(tiles_of(args.m)),
                  static_cast<unsigned>(cut.runs));
  launch("small product",
         args.c_storage == Storage::float32 ? product<kATransposed, kBTransposed, float>
                                            : product<kATransposed, kBTransposed, bf16>,
         grid, kThreads, 0, stream, args, static_cast<int>(cut.steps), static_cast<int>(cut.run));
}

bool aligned(const void* pointer, int64_t stride) {
  return reinterpret_cast<uintptr_t>(pointer) % 16 == 0 && stride % 8 == 0;
}

}  // namespace

int64_t small_product_parts(int64_t m, int64_t n, int64_t k) {
  const Cut cut = cut_of(m, n, k);
  return cut.runs > 1 ? cut.tiles * cut.runs * kTile * kTile : 0;
}

bool small_product_fits(const Product& args, int64_t parts_room) {
  // Where k runs along a row, 16 bytes must not reach behind its end.
  const bool whole = args.k % 8 == 0 || (args.a_transposed && !args.b_transposed);
  return whole && aligned(args.a, args.a_stride) && aligned(args.b, args.b_stride) && args.c_stride % 2 == 0 &&
         reinterpret_cast<uintptr_t>(args.c) % 8 == 0 && small_product_parts(args.m, args.n, args.k) <= parts_room;
}

void small_product(const Product& args, cudaStream_t stream) {
  if (args.m == 0 || args.n == 0) return;
  require(args.k > 0, "a product over nothing");
  if (args.a_transposed && args.b_transposed) return run<true, true>(args, stream);
  if (args.a_transposed) return run<true, false>(args, stream);
  if (args.b_transposed) return run<false, true>(args, stream);
  run<false, false>(args, stream);
}

}  // namespace lengthwise::gpu
