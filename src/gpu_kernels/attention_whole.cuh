#pragma once
/// What a block of the backward pass over whole sequences (attention_whole_backward.cu) keeps in shared memory, and the
/// part of that pass that is a sum for every query.
#include "gpu_kernels/attention_tiled.cuh"

namespace lengthwise::gpu {

inline constexpr int kWholeDim = 64;
inline constexpr int kWholeGroups = 2;
inline constexpr int kWholeThreads = kWholeGroups * kGroupThreads;
inline constexpr int kOwnDims = kWholeDim / kWholeGroups;

constexpr int64_t whole_tiles(int64_t longest) {
  return (longest + kRows - 1) / kRows;
}

/// What lies in shared memory, from its beginning on. Tiles of scores' gradients have a row for each key and a column
/// for each query.
template <Terms kTerms>
struct WholeRoom {
  bf16 *keys, *values;       ///< [group]
  bf16 *queries, *d_outs;    ///< two, in turns
  bf16* d_scores;            ///< [group]
  float4* d_queries;         ///< [tile, block of dims, thread]
  float *log_sums, *deltas;  ///< [query], of the whole sequence
  uint32_t* row_keys;        ///< [query]
  float* strips;             ///< [group][2]

  static constexpr int kBlocks = kOwnDims / 8;

  static size_t bytes(int64_t longest) {
    const auto tiles = static_cast<size_t>(whole_tiles(longest));
    return 5 * kWholeGroups * kTileSize<kWholeDim> * sizeof(bf16) +
           tiles * (kBlocks * kWholeThreads * sizeof(float4) + 3 * kRows * 4) +
           (kHasTable<kTerms> ? 2 * kWholeGroups * kStrip * sizeof(float) : 0);
  }

  __device__ __forceinline__ WholeRoom(unsigned char* memory, int64_t longest) {
    const auto tiles = static_cast<int>(whole_tiles(longest));
    keys = reinterpret_cast<bf16*>(memory);
    values = keys + kWholeGroups * kTileSize<kWholeDim>;
    queries = values + kWholeGroups * kTileSize<kWholeDim>;
    d_outs = queries + 2 * kTileSize<kWholeDim>;
    d_scores = d_outs + 2 * kTileSize<kWholeDim>;
    d_queries = reinterpret_cast<float4*>(d_scores + kWholeGroups * kTileSize<kWholeDim>);
    log_sums = reinterpret_cast<float*>(d_queries + tiles * kBlocks * kWholeThreads);
    deltas = log_sums + tiles * kRows;
    row_keys = reinterpret_cast<uint32_t*>(deltas + tiles * kRows);
    strips = deltas + 2 * tiles * kRows;
  }
};

/// delta of a tile's rows, four threads to a row: the result's part is fetched long before the tile of d_out is there.
class WholeDeltas {
 public:
  __device__ __forceinline__ WholeDeltas(const Attention& args, const AttentionGradients& gradients, Sequence sequence,
                                         int head)
      : args_(args), out_(static_cast<const bf16*>(gradients.out)), sequence_(sequence), head_(head) {}

  __device__ __forceinline__ void fetch(int tile) {
    const int query = tile * kRows + row();
    const auto dim = static_cast<int>(args_.dim);
    const bf16* from = out_ + (sequence_.begin + query) * (args_.heads * args_.dim) + head_ * dim + column();
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      const bool there = query < sequence_.length && column() + 8 * i < dim;
      held_[i] = there ? *reinterpret_cast<const uint4*>(from + 8 * i) : make_uint4(0, 0, 0, 0);
    }
  }
  /// Of the tile that was fetched last.
  __device__ __forceinline__ void find(int tile, const bf16* d_outs, float* deltas) const {
    float sum = 0;
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      const bf16* d_out = d_outs + GroupTile<kWholeDim>::place(row(), column() + 8 * i);
      sum += dot_eight(held_[i], *reinterpret_cast<const uint4*>(d_out));
    }
    sum = quad_sum(sum);
    if (threadIdx.x % 4 == 0) deltas[tile * kRows + row()] = sum;
  }

 private:
  static __device__ __forceinline__ int row() {
    return static_cast<int>(threadIdx.x) / 4;
  }
  static __device__ __forceinline__ int column() {
    return static_cast<int>(threadIdx.x) % 4 * 16;
  }

  const Attention& args_;
  const bf16* out_;
  Sequence sequence_;
  int head_;
  uint4 held_[2];
};

}  // namespace lengthwise::gpu
