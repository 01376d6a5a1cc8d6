#pragma once
/// The keys and values that a tile of queries walks over, in both passes: tiles in shared memory, two deep, and what is
/// added to their scores.
#include "gpu_kernels/attention_tiled.cuh"

namespace lengthwise::gpu {

template <int kDim, Terms kTerms>
class KeyTiles {
 public:
  static constexpr size_t kBytes =
      4 * kTileSize<kDim> * sizeof(bf16) + 2 * (kStrip + (kHasKeys<kTerms> ? kRows : 0)) * sizeof(float);

  /// `memory`: kBytes of shared memory, where a tile may begin.
  __device__ __forceinline__ KeyTiles(bf16* memory, const Attention& args, int head)
      : args_(args),
        head_(head),
        keys_(memory),
        values_(memory + 2 * kTileSize<kDim>),
        strips_(reinterpret_cast<float*>(memory + 4 * kTileSize<kDim>)),
        biases_(strips_ + 2 * kStrip) {}

  /// Begins to copy tile `key_tile` of a sequence for its tile of queries `tile`; commits what was copied before, too.
  __device__ __forceinline__ void copy(Sequence sequence, int tile, int key_tile) const {
    const int buffer = key_tile % 2;
    const int first = key_tile * kRows;
    const int count = min(kRows, sequence.length - first);
    const auto dim = static_cast<int>(args_.dim);
    const int64_t part = args_.heads * args_.dim;
    const bf16* from =
        static_cast<const bf16*>(args_.qkv) + (sequence.begin + first) * args_.qkv_stride + part + head_ * dim;
    copy_rows<kDim>(keys_ + buffer * kTileSize<kDim>, from, args_.qkv_stride, count, dim);
    copy_rows<kDim>(values_ + buffer * kTileSize<kDim>, from + part, args_.qkv_stride, count, dim);
    if constexpr (kHasTable<kTerms>)
      copy_strip(strips_ + buffer * kStrip, args_, head_, (tile - key_tile) * kRows - (kRows - 1));
    if constexpr (kHasKeys<kTerms>)
      copy_tokens(biases_ + buffer * kRows, args_.key_bias, args_, sequence.begin + first, count, head_, 0);
    copies_commit();
  }

  /// Waits for tile `key_tile`, while the next one is on its way; the diagonal's is the last. The whole block calls
  /// this.
  __device__ __forceinline__ void arrive(Sequence sequence, int tile, int key_tile) const {
    if (key_tile < tile) {
      copy(sequence, tile, key_tile + 1);
      copies_wait<1>();
    } else {
      copies_wait<0>();
    }
    group_publish();
    __syncthreads();
  }

  __device__ __forceinline__ const bf16* keys(int key_tile) const { return keys_ + key_tile % 2 * kTileSize<kDim>; }
  __device__ __forceinline__ const bf16* values(int key_tile) const { return values_ + key_tile % 2 * kTileSize<kDim>; }
  /// Its place 0 is the table's bias of distance 0 in the tile.
  __device__ __forceinline__ const float* strip(int key_tile) const {
    return strips_ + key_tile % 2 * kStrip + kRows - 1;
  }
  /// Of a key of the tile, where there are such.
  __device__ __forceinline__ float bias(int key_tile, int key) const {
    return kHasKeys<kTerms> ? biases_[key_tile % 2 * kRows + key] : 0.0f;
  }

 private:
  const Attention& args_;
  int head_;
  bf16* keys_;
  bf16* values_;
  float* strips_;
  float* biases_;
};

}  // namespace lengthwise::gpu
