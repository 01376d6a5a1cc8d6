#pragma once
/// What attention's kernels add to scores besides content, and the biases of pairs of tokens among it.
#include "gpu_kernels/attention.h"
#include "gpu_kernels/device.cuh"

namespace lengthwise::gpu {

/// One sequence's place in the batch.
struct Sequence {
  int begin;
  int length;
  int index;
};

__device__ __forceinline__ Sequence sequence_at(const Attention& args, int sequence) {
  const int first = args.offsets[sequence];
  return {first, args.offsets[sequence + 1] - first, sequence};
}

/// What besides content a kernel puts into scores: each pays for what it says, and reads whether it is there.
enum class Terms {
  none,
  table,
  keys,     ///< biases of keys
  several,  ///< a table, biases of keys, factors of queries and a window
  pairs,    ///< all of these, and biases of pairs
  mapped,   ///< biases of pairs alone, from a map
};

template <Terms kTerms>
inline constexpr bool kHasPairs = kTerms == Terms::pairs;
template <Terms kTerms>
inline constexpr bool kHasMap = kTerms == Terms::mapped;
/// And a window.
template <Terms kTerms>
inline constexpr bool kHasFactors = kTerms == Terms::several || kHasPairs<kTerms>;
template <Terms kTerms>
inline constexpr bool kHasKeys = kTerms == Terms::keys || kHasFactors<kTerms>;
template <Terms kTerms>
inline constexpr bool kHasTable = kTerms == Terms::table || kHasFactors<kTerms>;

inline Terms terms_of(const Attention& args) {
  if (args.dense != nullptr) return args.dense_map != nullptr ? Terms::mapped : Terms::pairs;
  if (args.query_scale != nullptr || args.window > 0) return Terms::several;
  if (args.key_bias != nullptr) return args.table != nullptr ? Terms::several : Terms::keys;
  return args.table != nullptr ? Terms::table : Terms::none;
}

/// The biases of pairs of one sequence and head, or their gradients.
struct PairBiases {
  float* values;  ///< [place, place]; nullptr: none
  int places;

  /// Those of a query and the keys `key` and key + 1, an even number; zeros where the query is not there or sees
  /// neither.
  __device__ __forceinline__ float2 two(int query, int key, int length) const {
    if (values == nullptr || query >= length || key > query) return make_float2(0, 0);
    return *reinterpret_cast<const float2*>(values + static_cast<int64_t>(query) * places + key);
  }
  __device__ __forceinline__ float one(int query, int key, int length) const {
    if (values == nullptr || query >= length || key > query) return 0;
    return values[static_cast<int64_t>(query) * places + key];
  }
  __device__ __forceinline__ void add_one(int query, int key, int length, float more) const {
    if (values == nullptr || query >= length || key > query) return;
    values[static_cast<int64_t>(query) * places + key] += more;
  }
  /// Writes those of a query and two keys.
  __device__ __forceinline__ void put(int query, int key, int length, float first, float second) const {
    if (values == nullptr || query >= length || key > query) return;
    *reinterpret_cast<float2*>(values + static_cast<int64_t>(query) * places + key) = make_float2(first, second);
  }
};

/// The biases of pairs, or their gradients, of a lane's scores in a product of 16 queries and kKeys keys: of the
/// queries `query` and query + 8 and of the keys `key`, key + 1, key + 8, ... They are fetched before the product, so
/// that the way to memory is hidden behind it. Nothing where there are none.
template <Terms kTerms, int kKeys = 32>
class TileBiases {
 public:
  __device__ __forceinline__ TileBiases(const PairBiases& pairs, int query, int key, int length) {
    if constexpr (kHasPairs<kTerms>) {
#pragma unroll
      for (int i = 0; i < kKeys / 4; ++i) rows_[i] = pairs.two(query + i % 2 * 8, key + i / 2 * 8, length);
    }
  }

  /// Of element `e` of the fragment's block of keys n.
  __device__ __forceinline__ float at(int n, int e) const {
    if constexpr (!kHasPairs<kTerms>) return 0;
    const float2 row = rows_[kHasPairs<kTerms> ? 2 * n + e / 2 : 0];
    return e % 2 == 0 ? row.x : row.y;
  }

  /// Writes the sum of these and `more` of block n to where these were read.
  __device__ __forceinline__ void add_to(const PairBiases& pairs, int query, int key, int length, int n,
                                         const float (&more)[4]) const {
    if constexpr (kHasPairs<kTerms>) {
#pragma unroll
      for (int r = 0; r < 2; ++r) {
        const float2 before = rows_[2 * n + r];
        pairs.put(query + 8 * r, key + 8 * n, length, before.x + more[2 * r], before.y + more[2 * r + 1]);
      }
    }
  }

 private:
  float2 rows_[kHasPairs<kTerms> ? kKeys / 4 : 1];
};

template <Terms kTerms>
__device__ __forceinline__ PairBiases pair_biases(const Attention& args, Sequence sequence, int head) {
  if (!kHasPairs<kTerms> || args.dense == nullptr) return {nullptr, 0};
  const int64_t map = (args.dense_shared ? 0 : sequence.index) * args.heads + head;
  return {const_cast<float*>(args.dense) + map * args.dense_places * args.dense_places,
          static_cast<int>(args.dense_places)};
}

template <Terms kTerms>
__device__ __forceinline__ PairBiases pair_gradients(const Attention& args, float* d_dense, Sequence sequence,
                                                     int head) {
  if (!kHasPairs<kTerms> || d_dense == nullptr) return {nullptr, 0};
  const int64_t map = sequence.index * args.heads + head;
  return {d_dense + map * args.dense_places * args.dense_places, static_cast<int>(args.dense_places)};
}

}  // namespace lengthwise::gpu
