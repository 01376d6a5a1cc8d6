#include "gpu_kernels/attention_kernels.h"
#include "gpu_kernels/attention_tiled_backward.h"
#include "gpu_kernels/pair_map.cuh"

namespace lengthwise::gpu {
namespace {

/// More than this is not written down: scores are then made once more (attention_tiled_pairs.cu).
constexpr int64_t kMostBytes = int64_t{1} << 30;

/// A block has a chunk of one pair of tiles of a head, a thread one vector of it: eight numbers of every sequence,
/// added up one sequence after the other.
__global__ void __launch_bounds__(kTiledThreads)
    sums_kernel(Attention args, const uint4* score_gradients, float* d_dense) {
  begin();
  constexpr int kAtOnce = 8;
  const TilePair at = tile_pair_at(static_cast<int>(blockIdx.x) / kMapChunks);
  const int chunk = static_cast<int>(blockIdx.x) % kMapChunks;
  const auto head = static_cast<int>(blockIdx.y);
  const auto thread = static_cast<int>(threadIdx.x);
  const auto sequences = static_cast<int>(args.sequences);
  const int first = at.tile * kRows;
  const int64_t stride = score_gradients_place(args, 1, 0);
  const uint4* from = score_gradients + score_gradients_place(args, 0, head) +
                      static_cast<int64_t>(blockIdx.x) * kTiledThreads + thread;
  float sums[8] = {};
  for (int sequence = 0; sequence < sequences; sequence += kAtOnce) {
    uint4 held[kAtOnce];
#pragma unroll
    for (int k = 0; k < kAtOnce; ++k) {
      // Nobody wrote those of a sequence that has no such queries.
      const bool there = sequence + k < sequences && sequence_at(args, sequence + k).length > first;
      held[k] = there ? from[(sequence + k) * stride] : make_uint4(0, 0, 0, 0);
    }
#pragma unroll
    for (int k = 0; k < kAtOnce; ++k) {
      const uint32_t words[4] = {held[k].x, held[k].y, held[k].z, held[k].w};
#pragma unroll
      for (int w = 0; w < 4; ++w) {
        sums[2 * w] += low_of(words[w]);
        sums[2 * w + 1] += high_of(words[w]);
      }
    }
  }
  const auto places = static_cast<int>(args.dense_places);
  const PairBiases to{d_dense + static_cast<int64_t>(head) * places * places, places};
  const int key = at.key_tile * kRows + thread / 32 * 16 + thread % 32 / 4;
  const int query = first + 16 * chunk + 2 * (thread % 4);
#pragma unroll
  for (int i = 0; i < 8; ++i) to.add_one(query + i / 4 * 8 + i % 2, key + i % 4 / 2 * 8, places, sums[i]);
}

}  // namespace

int64_t attention_score_gradients_size(const Attention& shape) {
  if (shape.dense_map == nullptr || !runs_whole(shape)) return 0;
  const int64_t bytes = score_gradients_place(shape, shape.sequences, 0) * static_cast<int64_t>(sizeof(uint4));
  return bytes <= kMostBytes ? bytes : 0;
}

void attention_pair_sums(const Attention& args, const AttentionGradients& gradients, cudaStream_t stream) {
  const dim3 grid(static_cast<unsigned>(kMapChunks * tile_pairs(args)), static_cast<unsigned>(args.heads));
  launch("attention_backward, sums of pairs", sums_kernel, grid, kTiledThreads, 0, stream, args,
         static_cast<const uint4*>(gradients.score_gradients), gradients.d_dense);
}

}  // namespace lengthwise::gpu
