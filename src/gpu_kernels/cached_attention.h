#pragma once
/// Attention of one new token a sequence over the keys and values of those before it, which are kept on the device.
///
///     keys, values [row, head, capacity, dim]: those of the tokens 0 .. position of a sequence, one row for each
///     out = sum_j softmax_j(scale f <q, k_j> + table[h, position - j] + dense[h, position, j]) v_j
///                                                             for position - window < j <= position
///
/// Every key and value is read once. Scores stay on the chip, softmax and sums are float; no dropout: nothing learns
/// from what is generated.
#include "gpu_kernels/launch.h"

namespace lengthwise::gpu {

struct KeyValueRows {
  Storage storage = Storage::bfloat16;
  int64_t heads = 1;
  int64_t dim = 0;       ///< of a head: 8 to 128, a multiple of 8
  int64_t capacity = 0;  ///< tokens of a row
  void* keys = nullptr;
  void* values = nullptr;
};

/// Takes the keys and values of whole sequences from qkv [token, 3 * head * dim] (rotated: attention.h) to the rows
/// from `first` on, one for each. No sequence has more than `capacity` tokens.
void store_keys(const KeyValueRows& cache, const void* qkv, const int32_t* offsets, int64_t sequences, int64_t first,
                cudaStream_t stream);

struct CachedAttention {
  KeyValueRows cache;
  int64_t rows = 0;
  const void* qkv = nullptr;           ///< [row, 3 * head * dim], rotated: the new tokens, which go to the cache too
  const int32_t* positions = nullptr;  ///< [row], below the capacity
  float scale = 1;
  const float* table = nullptr;        ///< [head, distances]; nullptr: none
  int64_t distances = 0;               ///< at least the capacity
  const float* query_scale = nullptr;  ///< f [row, head]; nullptr: 1
  const float* dense = nullptr;        ///< [head, place, place], one for all rows; nullptr: none
  int64_t dense_places = 0;            ///< at least the capacity
  int64_t window = 0;                  ///< 0: all keys
  void* out = nullptr;                 ///< [row, head * dim]
};

void cached_attention(const CachedAttention& args, cudaStream_t stream);

}  // namespace lengthwise::gpu
