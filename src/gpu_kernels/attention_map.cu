#include "gpu_kernels/attention_kernels.h"
#include "gpu_kernels/pair_map.cuh"

namespace lengthwise::gpu {
namespace {

/// Below the largest number in half precision: a bias that stands for "not seen" stays one, and finite.
constexpr float kMost = 60000.0f;
/// Longer maps would cost more memory than they save time.
constexpr int64_t kLongest = 2048;

__device__ __forceinline__ float clamped(float x) {
  return fminf(fmaxf(x, -kMost), kMost);
}

/// A block has one pair of tiles of a head in one order.
__global__ void __launch_bounds__(kTiledThreads) map_kernel(Attention args, uint4* map) {
  begin();
  const TilePair at = tile_pair_at(static_cast<int>(blockIdx.x));
  const auto head = static_cast<int>(blockIdx.y);
  const Order order = blockIdx.z == 0 ? Order::queries : Order::keys;
  const auto thread = static_cast<int>(threadIdx.x);
  const int row = thread / 32 * 16 + thread % 32 / 4;
  const int column = 2 * (thread % 4);
  const auto places = static_cast<int>(args.dense_places);
  const PairBiases pairs = pair_biases<Terms::pairs>(args, Sequence{}, head);
  const auto value = [&](int of_row, int of_column) {
    const int query = at.tile * kRows + (order == Order::queries ? of_row : of_column);
    const int key = at.key_tile * kRows + (order == Order::queries ? of_column : of_row);
    return clamped(pairs.one(query, key, places));
  };
  const auto two = [&](int block, int of_row) {
    return pack_halves(value(of_row, 8 * block + column), value(of_row, 8 * block + column + 1));
  };
  uint4* to = map + map_place(args, order, head) + static_cast<int64_t>(blockIdx.x) * kMapVectors + thread;
#pragma unroll
  for (int c = 0; c < kMapChunks; ++c) {
    to[c * kTiledThreads] =
        make_uint4(two(2 * c, row), two(2 * c, row + 8), two(2 * c + 1, row), two(2 * c + 1, row + 8));
  }
}

}  // namespace

int64_t attention_dense_map_size(const Attention& shape) {
  const bool alone =
      shape.table == nullptr && shape.key_bias == nullptr && shape.query_scale == nullptr && shape.window == 0;
  const bool tiled = shape.storage == Storage::bfloat16 && shape.longest > kSmallAttention && shape.longest <= kLongest;
  if (shape.dense == nullptr || !shape.dense_shared || !alone || !tiled || shape.dim <= 32 || shape.dim > 64) return 0;
  return map_place(shape, Order::keys, shape.heads) * static_cast<int64_t>(sizeof(uint4));
}

void attention_dense_map(const Attention& shape, void* map, cudaStream_t stream) {
  const dim3 grid(static_cast<unsigned>(tile_pairs(shape)), static_cast<unsigned>(shape.heads), 2);
  launch("attention_dense_map", map_kernel, grid, kTiledThreads, 0, stream, shape, static_cast<uint4*>(map));
}

}  // namespace lengthwise::gpu
