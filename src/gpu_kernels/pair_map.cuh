#pragma once
/// The map of biases of pairs (attention_dense_map), and what the kernels over tiles read of either form.
///
/// [order, head, pair of tiles, chunk, thread]: 16 bytes each, eight numbers in half precision. Pairs of tiles are
/// those of the lower triangle, row by row. In the first order queries are rows and keys columns, in the second keys
/// are rows. A thread of the warpgroup holds of a tile's 64 columns 8 blocks of 4 scores (ptx.cuh, C); chunk c has
/// those of the blocks 2 c and 2 c + 1.
///
/// Gradients of scores lie in memory in the second order, [sequence, head, pair of tiles, chunk, thread], eight numbers
/// in bfloat16 (attention_score_gradients_size).
#include "gpu_kernels/attention_tiled.cuh"

namespace lengthwise::gpu {

inline constexpr int kMapChunks = kRows / 16;
inline constexpr int kMapVectors = kMapChunks * kTiledThreads;  ///< of a pair of tiles

__host__ __device__ __forceinline__ int64_t tile_pairs(int64_t tiles) {
  return tiles * (tiles + 1) / 2;
}
/// Those of the longest sequence.
__host__ __device__ __forceinline__ int64_t tile_pairs(const Attention& args) {
  return tile_pairs((args.longest + kRows - 1) / kRows);
}

struct TilePair {
  int tile, key_tile;
};

__device__ __forceinline__ TilePair tile_pair_at(int index) {
  int tile = 0;
  while (index > tile) index -= ++tile;
  return {tile, index};
}

/// What the rows of a tile of scores are; the columns are the others.
enum class Order { queries, keys };

/// Where the vectors of one order and head begin.
__host__ __device__ __forceinline__ int64_t map_place(const Attention& args, Order order, int64_t head) {
  return (static_cast<int64_t>(order) * args.heads + head) * tile_pairs(args) * kMapVectors;
}

/// Where the gradients of a sequence's scores begin.
__host__ __device__ __forceinline__ int64_t score_gradients_place(const Attention& args, int64_t sequence,
                                                                  int64_t head) {
  return (sequence * args.heads + head) * tile_pairs(args) * kMapVectors;
}

/// What a thread holds of kSpan columns of a pair of tiles.
template <int kSpan>
class MapSpan {
 public:
  __device__ __forceinline__ MapSpan(const uint4* tile, int span) {
#pragma unroll
    for (int c = 0; c < kSpan / 16; ++c) vectors_[c] = tile[(span / 16 + c) * kTiledThreads + group_thread()];
  }
  /// Of element `e` of the block of columns n.
  __device__ __forceinline__ float at(int n, int e) const {
    const uint4& vector = vectors_[n / 2];
    const uint32_t two = n % 2 == 0 ? (e < 2 ? vector.x : vector.y) : (e < 2 ? vector.z : vector.w);
    return e % 2 == 0 ? low_half(two) : high_half(two);
  }

 private:
  uint4 vectors_[kSpan / 16];
};

/// The biases of pairs, or their absence, of a lane's scores in a product of 16 keys and kSpan queries.
template <Terms kTerms, int kSpan>
class TurnedBiases {
 public:
  __device__ __forceinline__ TurnedBiases(const PairBiases& pairs, int key, int query, int length) {
    if constexpr (kHasPairs<kTerms>) {
#pragma unroll
      for (int i = 0; i < kSpan / 2; ++i)
        values_[i] = pairs.one(query + i / 4 * 8 + i % 2, key + i % 4 / 2 * 8, length);
    }
  }
  __device__ __forceinline__ float at(int n, int e) const {
    return kHasPairs<kTerms> ? values_[4 * n + e] : 0.0f;
  }

 private:
  float values_[kHasPairs<kTerms> ? kSpan / 2 : 1];
};

/// The biases of pairs of one sequence and head, or none.
template <Terms kTerms, Order kOrder>
class TilePairs {
 public:
  __device__ __forceinline__ TilePairs(const Attention& args, Sequence sequence, int head)
      : pairs_(pair_biases<kTerms>(args, sequence, head)) {
    if constexpr (kHasMap<kTerms>) map_ = static_cast<const uint4*>(args.dense_map) + map_place(args, kOrder, head);
  }

  /// Of the lane's rows `row` and row + 8 and of kSpan columns from `span` on, of a tile of queries and one of keys.
  template <int kSpan>
  __device__ __forceinline__ auto span(int tile, int key_tile, int span, int row, int length) const {
    const int column = span + 2 * (static_cast<int>(threadIdx.x) % 4);
    if constexpr (kHasMap<kTerms>) {
      return MapSpan<kSpan>(map_ + (tile_pairs(tile) + key_tile) * kMapVectors, span);
    } else if constexpr (kOrder == Order::queries) {
      return TileBiases<kTerms, kSpan>(pairs_, tile * kRows + row, key_tile * kRows + column, length);
    } else {
      return TurnedBiases<kTerms, kSpan>(pairs_, key_tile * kRows + row, tile * kRows + column, length);
    }
  }

 private:
  PairBiases pairs_;
  const uint4* map_ = nullptr;
};

/// with_attention_variant with Terms::mapped among the terms, which is made for heads of 40 to 64 dims.
template <class Run>
void with_tiled_variant(const Attention& args, const Run& run) {
  if (terms_of(args) != Terms::mapped) return with_attention_variant(args, run);
  if (args.dropout.active()) return run.template operator()<64, Terms::mapped, true>();
  run.template operator()<64, Terms::mapped, false>();
}

}  // namespace lengthwise::gpu
