#pragma once
/// What the two kernels of short attention share: one block for each sequence and head, two threads for each of up to
/// 64 tokens.
///
/// Keys are taken 32 at a time; a warp leaves out the second 32 when its 16 queries do not see them. Branches within
/// the products would keep the loads of one from running beside another.
#include "gpu_kernels/attention_device.cuh"
#include "gpu_kernels/attention_kernels.h"

namespace lengthwise::gpu {

/// Shared memory of a block: `tiles` tiles [token, dim], `squares` tiles [query, key], and the biases.
template <int kDim, int kTokens, Terms kTerms>
constexpr size_t small_shared_bytes(int tiles, int squares) {
  return static_cast<size_t>(tiles * kTokens * kTileStride<kDim> + squares * kTokens * kTileStride<kTokens>) *
             sizeof(bf16) +
         (kHasKeys<kTerms> ? 2 : 1) * kTokens * sizeof(float);
}

/// The table's biases by distance, then those of the keys.
template <Terms kTerms, int kTokens>
__device__ __forceinline__ void load_biases(float* bias, const Attention& args, Sequence sequence, int length,
                                            int head) {
  const auto at = static_cast<int>(threadIdx.x);
  if (kTerms == Terms::none || at >= kTokens) return;
  const bool valid = at < length;
  bias[at] = valid && args.table != nullptr ? args.table[head * args.distances + at] : 0.0f;
  if (!kHasKeys<kTerms>) return;
  bias[kTokens + at] =
      valid && args.key_bias != nullptr ? args.key_bias[(sequence.begin + at) * args.heads + head] : 0.0f;
}

template <Terms kTerms, int kTokens>
__device__ __forceinline__ float key_bias(const float* bias, int key) {
  return kHasKeys<kTerms> ? bias[kTokens + key] : 0.0f;
}

/// Calls run.template operator()<dim padded to 16, 32, 64 or 128, tokens padded to 32 or 64, terms, dropout>().
template <class Run>
void with_small_variant(const Attention& args, const Run& run) {
  with_attention_variant(args, [&]<int kDim, Terms kTerms, bool kDrops>() {
    if (args.longest <= 32) return run.template operator()<kDim, 32, kTerms, kDrops>();
    run.template operator()<kDim, 64, kTerms, kDrops>();
  });
}

inline dim3 small_grid(const Attention& args) {
  return dim3(static_cast<unsigned>(args.heads), static_cast<unsigned>(args.sequences + 1));
}

}  // namespace lengthwise::gpu
