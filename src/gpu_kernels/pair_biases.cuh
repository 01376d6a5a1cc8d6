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

/// What besides content a kernel puts into scores. The first two pay for nothing else.
enum class Terms {
  none,
  table,
  all,  ///< a table, factors of queries, biases of keys and of pairs and a window, each where it is there
};

inline Terms terms_of(const Attention& args) {
  if (args.query_scale != nullptr || args.key_bias != nullptr || args.dense != nullptr || args.window > 0)
    return Terms::all;
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
  /// Adds to those of a query and two keys, 0 where they are not seen.
  __device__ __forceinline__ void add(int query, int key, int length, float first, float second) const {
    if (values == nullptr || query >= length || key > query) return;
    float2* place = reinterpret_cast<float2*>(values + static_cast<int64_t>(query) * places + key);
    const float2 before = *place;
    *place = make_float2(before.x + first, before.y + second);
  }
};

/// The biases of a lane's four scores of a product's tile: two neighbouring keys of the queries `query` and query + 8.
class QuadBiases {
 public:
  __device__ __forceinline__ QuadBiases(const PairBiases& pairs, int query, int key, int length)
      : rows_{pairs.two(query, key, length), pairs.two(query + 8, key, length)} {}

  __device__ __forceinline__ float at(int element) const {
    const float2 row = rows_[element / 2];
    return element % 2 == 0 ? row.x : row.y;
  }

 private:
  float2 rows_[2];
};

template <Terms kTerms>
__device__ __forceinline__ PairBiases pair_biases(const Attention& args, Sequence sequence, int head) {
  if (kTerms != Terms::all || args.dense == nullptr) return {nullptr, 0};
  const int64_t map = (args.dense_shared ? 0 : sequence.index) * args.heads + head;
  return {const_cast<float*>(args.dense) + map * args.dense_places * args.dense_places,
          static_cast<int>(args.dense_places)};
}

template <Terms kTerms>
__device__ __forceinline__ PairBiases pair_gradients(const Attention& args, float* d_dense, Sequence sequence,
                                                     int head) {
  if (kTerms != Terms::all || d_dense == nullptr) return {nullptr, 0};
  const int64_t map = sequence.index * args.heads + head;
  return {d_dense + map * args.dense_places * args.dense_places, static_cast<int>(args.dense_places)};
}

}  // namespace lengthwise::gpu
