#include "gpu_kernels/attention_kernels.h"
#include "gpu_kernels/attention_tiled.cuh"
#include "gpu_kernels/attention_tiled_backward.h"
#include "gpu_kernels/pair_map.cuh"

namespace lengthwise::gpu {
namespace {

/// One tile of queries and one of keys of a sequence; those of two sequences are in shared memory.
template <int kDim>
struct Corner {
  bf16 q[kTileSize<kDim>], d_o[kTileSize<kDim>], k[kTileSize<kDim>], v[kTileSize<kDim>];
};

template <int kDim>
constexpr size_t kSharedBytes = 2 * sizeof(Corner<kDim>) + (kStrip + 2 * kRows) * sizeof(float);

/// The gradient of biases that all sequences share: a block has one pair of tiles of the map and adds up over the
/// sequences of its part. What the other kernels know of scores is computed once more, which costs less than to lead a
/// number for every pair and sequence through memory in every layer.
template <int kDim, Terms kTerms, bool kDrops>
__global__ void __launch_bounds__(kTiledThreads, kDim <= 64 ? 3 : 1)
    pairs_kernel(Attention args, AttentionGradients gradients) {
  begin();
  constexpr int kSpan = kDim <= 64 ? kRows : kHalf;
  Corner<kDim>* corners = reinterpret_cast<Corner<kDim>*>(dynamic_shared());
  float* strip_from = reinterpret_cast<float*>(corners + 2);
  float* key_biases = strip_from + kStrip;  // two tiles
  const auto head = static_cast<int>(blockIdx.y);
  const auto part_index = static_cast<int>(blockIdx.z);
  const auto parts = static_cast<int>(gridDim.z);
  const auto sequences = static_cast<int>(args.sequences);
  const auto [tile, key_tile] = tile_pair_at(static_cast<int>(blockIdx.x));
  const int first = tile * kRows;
  const int first_key = key_tile * kRows;
  const ScoreUnits<kTerms> units(args);
  if (key_tile < units.first_tile(first, kRows)) return;
  const auto dim = static_cast<int>(args.dim);
  const int64_t part = args.heads * args.dim;
  /// The next sequence of this block that has such queries, or `sequences`.
  const auto next = [&](int from) {
    while (from < sequences && sequence_at(args, from).length <= first) from += parts;
    return min(from, sequences);
  };
  const auto copy = [&](int index, int buffer) {
    const Sequence sequence = sequence_at(args, index);
    const bf16* from = static_cast<const bf16*>(args.qkv) + sequence.begin * args.qkv_stride + head * dim;
    const bf16* d_out = static_cast<const bf16*>(gradients.d_out) + (sequence.begin + first) * part + head * dim;
    const bf16* keys = from + first_key * args.qkv_stride + part;
    const int rows = min(kRows, sequence.length - first);
    const int count = min(kRows, sequence.length - first_key);
    Corner<kDim>& to = corners[buffer];
    copy_rows<kDim>(to.q, from + first * args.qkv_stride, args.qkv_stride, rows, dim);
    copy_rows<kDim>(to.d_o, d_out, part, rows, dim);
    copy_rows<kDim>(to.k, keys, args.qkv_stride, count, dim);
    copy_rows<kDim>(to.v, keys + part, args.qkv_stride, count, dim);
    if constexpr (kHasKeys<kTerms>)
      copy_tokens(key_biases + buffer * kRows, args.key_bias, args, sequence.begin + first_key, count, head, 0);
    copies_commit();
  };
  int index = next(part_index);
  if (index >= sequences) return;
  if constexpr (kHasTable<kTerms>) copy_strip(strip_from, args, head, first - first_key - (kRows - 1));
  copy(index, 0);
  const float* strip = strip_from + kRows - 1;
  const int warp = warp_index();
  const int quad = static_cast<int>(threadIdx.x) % 4;
  const int row = 16 * warp + static_cast<int>(threadIdx.x) % 32 / 4;
  const Mask mask(args.dropout);
  const uint32_t column = Mask::pair_key(static_cast<uint32_t>(first_key / 2 + quad));
  const auto places = static_cast<int>(args.dense_places);
  const TilePairs<kTerms, Order::queries> pairs(args, sequence_at(args, index), head);
  const auto of_pairs = pairs.template span<kRows>(tile, key_tile, 0, row, places);
  float sums[kRows / 8][4];
  clear(sums);
  for (int buffer = 0; index < sequences; buffer ^= 1) {
    const Sequence sequence = sequence_at(args, index);
    const Corner<kDim>& corner = corners[buffer];
    const int following = next(index + parts);
    if (following < sequences) {
      copy(following, buffer ^ 1);
      copies_wait<1>();
    } else {
      copies_wait<0>();
    }
    group_publish();
    __syncthreads();
    const int rows = min(kRows, sequence.length - first);
    float shift[2], delta[2], factors[2];
    uint32_t row_keys[2] = {0, 0};
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      const bool valid = row + 8 * r < rows;
      const int64_t place = (sequence.begin + first + (valid ? row + 8 * r : 0)) * args.heads + head;
      // A query that is not there gets weights of 0.
      shift[r] = valid ? gradients.log_sum[place] * kLog2e : INFINITY;
      delta[r] = valid ? gradients.delta[place] : 0.0f;
      if constexpr (kDrops) row_keys[r] = mask.row(static_cast<uint64_t>(place));
      factors[r] = query_factor<kTerms>(args, place, valid);
    }
#pragma unroll
    for (int span = 0; span < kRows; span += kSpan) {
      float s[kSpan / 8][4], d_s[kSpan / 8][4];
      group_begin();
      multiply_rows<kDim>(s, corner.q, corner.k, span);
      multiply_rows<kDim>(d_s, corner.d_o, corner.v, span);
      group_commit();
      group_wait<0>(s);
      group_wait<0>(d_s);
#pragma unroll
      for (int n = 0; n < kSpan / 8; ++n) {
        const int block = span / 8 + n;
        const PairBits<kDrops> bits(row_keys, column + Mask::pair_key(static_cast<uint32_t>(4 * block)));
#pragma unroll
        for (int e = 0; e < 4; ++e) {
          const int key = 8 * block + 2 * quad + e % 2;
          const int distance = first - first_key + row + e / 2 * 8 - key;
          const float key_bias = kHasKeys<kTerms> ? key_biases[buffer * kRows + key] : 0.0f;
          const float bias = key_bias + of_pairs.at(block, e);
          const float x = units.adjusted(s[n][e], factors[e / 2], strip + row + e / 2 * 8 - key, bias);
          const float weight = exp2_fast(x * units.power - shift[e / 2]);
          float gradient = d_s[n][e];
          if constexpr (kDrops) gradient = bits.kept(mask, e) ? gradient * mask.scale() : 0.0f;
          if (distance >= 0 && !units.unseen(distance)) sums[block][e] += weight * (gradient - delta[e / 2]);
        }
      }
    }
    __syncthreads();
    index = following;
  }
  const int64_t map = (static_cast<int64_t>(part_index) * args.heads + head) * places * places;
  const PairBiases to{gradients.d_dense + map, places};
  const TileBiases<Terms::pairs, kRows> before(to, first + row, first_key + 2 * quad, places);
#pragma unroll
  for (int n = 0; n < kRows / 8; ++n) before.add_to(to, first + row, first_key + 2 * quad, places, n, sums[n]);
}

}  // namespace

void tiled_attention_pairs(const Attention& args, const AttentionGradients& gradients, cudaStream_t stream) {
  const dim3 grid(static_cast<unsigned>(tile_pairs(args)), static_cast<unsigned>(args.heads),
                  static_cast<unsigned>(attention_dense_parts(args)));
  with_tiled_variant(args, [&]<int kDim, Terms kTerms, bool kDrops>() {
    if constexpr (kHasPairs<kTerms> || kHasMap<kTerms>)
      launch("attention_backward of pairs", pairs_kernel<kDim, kTerms, kDrops>, grid, kTiledThreads, kSharedBytes<kDim>,
             stream, args, gradients);
  });
}

}  // namespace lengthwise::gpu
