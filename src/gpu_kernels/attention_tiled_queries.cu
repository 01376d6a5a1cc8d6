#include "gpu_kernels/attention_kernels.h"
#include "gpu_kernels/attention_key_tiles.cuh"
#include "gpu_kernels/attention_tiled_backward.h"
#include "gpu_kernels/pair_map.cuh"

namespace lengthwise::gpu {
namespace {

// The gradient of the table is a sum along diagonals of score gradients. They are written to shared memory as a slanted
// tile, slanted[query][key - query + 63], in which a diagonal is a column; a product with ones adds the columns up.
constexpr int kSlantedStride = kTileStride<2 * kRows>;
constexpr int kSlantedSize = kRows * kSlantedStride;
constexpr uint32_t kOnes = 0x3f803f80u;  ///< two of them in bfloat16

/// Floats for the sums of all distances from -63 on, in whole vectors.
__host__ __device__ constexpr int64_t table_room(int64_t longest) {
  return (longest + 3) / 4 * 4 + 2 * kRows;
}

template <int kDim, Terms kTerms>
constexpr size_t shared_bytes(bool learns, int64_t longest) {
  return 2 * kTileSize<kDim> * sizeof(bf16) + KeyTiles<kDim, kTerms>::kBytes +
         (learns ? kSlantedSize * sizeof(bf16) : 0) +
         (learns ? static_cast<size_t>(table_room(longest)) * sizeof(float) : 0);
}

/// sum over c of a[c] b[c]; four lanes share a row.
__device__ __forceinline__ float dot_rows(const bf16* a, const bf16* b, int dim, int quad) {
  float sum = 0;
  for (int c = 8 * quad; c < dim; c += 32) {
    sum += dot_eight(*reinterpret_cast<const uint4*>(a + c), *reinterpret_cast<const uint4*>(b + c));
  }
  return quad_sum(sum);
}

__device__ __forceinline__ void clear_slanted(bf16* slanted) {
  uint4* words = reinterpret_cast<uint4*>(slanted);
  for (int i = static_cast<int>(threadIdx.x); i < kSlantedSize / 8; i += kTiledThreads)
    words[i] = make_uint4(0, 0, 0, 0);
}

/// Adds the diagonals of a tile to sums[distance + 63], 32 of them by each warp.
__device__ __forceinline__ void add_diagonals(const bf16* slanted, float* sums) {
  const int warp = warp_index();
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const uint32_t ones[4] = {kOnes, kOnes, kOnes, kOnes};
  float c[4][4];
  clear(c);
#pragma unroll
  for (int row = 0; row < kRows; row += 16) {
#pragma unroll
    for (int n = 0; n < 4; n += 2) {
      uint32_t b[4];
      load_b_transposed<kSlantedStride>(b, slanted, row, 32 * warp + 8 * n);
      multiply_add(c[n], ones, b[0], b[1]);
      multiply_add(c[n + 1], ones, b[2], b[3]);
    }
  }
  if (lane >= 4) return;  // all rows of the product are equal
#pragma unroll
  for (int n = 0; n < 4; ++n) {
    const int column = 32 * warp + 8 * n + 2 * lane;
    sums[2 * kRows - 2 - column] += c[n][0];
    if (column + 1 < 2 * kRows - 1) sums[2 * kRows - 3 - column] += c[n][1];
  }
}

/// d_q of one tile of queries after the other, delta on the way, and the gradient of the table when it learns.
template <int kDim, Terms kTerms, bool kDrops, bool kLearns>
__global__ void __launch_bounds__(kTiledThreads, kBackwardBlocks<kDim>)
    queries_kernel(Attention args, AttentionGradients gradients) {
  begin();
  constexpr int kSpan = kTileSpan<kDim, kTerms>;
  bf16* q = reinterpret_cast<bf16*>(dynamic_shared());
  bf16* d_o = q + kTileSize<kDim>;
  bf16* memory = d_o + kTileSize<kDim>;
  float* table_sums =
      reinterpret_cast<float*>(memory + KeyTiles<kDim, kTerms>::kBytes / sizeof(bf16));  // [distance + 63]
  bf16* slanted = reinterpret_cast<bf16*>(table_sums + table_room(args.longest));
  const int head = static_cast<int>(blockIdx.x);
  const auto thread = static_cast<int>(threadIdx.x);
  const auto dim = static_cast<int>(args.dim);
  const int64_t part = args.heads * args.dim;
  const int warp = warp_index();
  const int quad = thread % 4;
  const int row = 16 * warp + thread % 32 / 4;
  const Mask mask(args.dropout);
  const ScoreUnits<kTerms> units(args);
  const KeyTiles<kDim, kTerms> tiles(memory, args, head);
  if constexpr (kLearns) {
    for (int m = thread; m < table_room(args.longest); m += kTiledThreads) table_sums[m] = 0;
    clear_slanted(slanted);
  }
  for (int item = static_cast<int>(blockIdx.y);; item += static_cast<int>(gridDim.y)) {
    const auto [sequence, tile] = item_at(args, item);
    if (sequence.length <= 0) break;
    const bf16* from = static_cast<const bf16*>(args.qkv) + sequence.begin * args.qkv_stride + head * dim;
    const int first = tile * kRows;
    const int rows = min(kRows, sequence.length - first);
    const bf16* d_out = static_cast<const bf16*>(gradients.d_out) + (sequence.begin + first) * part + head * dim;
    const bf16* out = static_cast<const bf16*>(gradients.out) + (sequence.begin + first) * part + head * dim;
    __syncthreads();
    copy_rows<kDim>(q, from + static_cast<int64_t>(first) * args.qkv_stride, args.qkv_stride, rows, dim);
    copy_rows<kDim>(d_o, d_out, part, rows, dim);
    const TilePairs<kTerms, Order::queries> pairs(args, sequence, head);
    const PairBiases d_pairs = pair_gradients<kTerms>(args, gradients.d_dense, sequence, head);
    const int first_tile = units.first_tile(first, kRows);
    tiles.copy(sequence, tile, first_tile);
    const int64_t token = sequence.begin + first + row;
    float shift[2], delta[2], factors[2];
    float d_factor[2] = {0, 0};
    uint32_t row_keys[2] = {0, 0};
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      const bool valid = row + 8 * r < rows;
      const int64_t place = (token + 8 * r) * args.heads + head;
      const int64_t offset = valid ? (row + 8 * r) * part : 0;
      // A query that is not there gets weights of 0.
      shift[r] = valid ? gradients.log_sum[place] * kLog2e : INFINITY;
      delta[r] = dot_rows(d_out + offset, out + offset, dim, quad);
      if (!valid) delta[r] = 0;
      if (valid && quad == 0) gradients.delta[place] = delta[r];
      if constexpr (kDrops) row_keys[r] = mask.row(static_cast<uint64_t>(place));
      factors[r] = query_factor<kTerms>(args, place, valid);
    }
    float d_q[kDim / 8][4];
    clear(d_q);
    for (int key_tile = first_tile; key_tile <= tile; ++key_tile) {
      tiles.arrive(sequence, tile, key_tile);
      const float* strip = tiles.strip(key_tile);
      const bool diagonal = key_tile == tile;
      const uint32_t column = Mask::pair_key(static_cast<uint32_t>(key_tile * kRows / 2 + quad));
#pragma unroll
      for (int span = 0; span < kRows; span += kSpan) {
        const int pair = key_tile * kRows + span + 2 * quad;
        const auto of_pairs = pairs.template span<kSpan>(tile, key_tile, span, row, sequence.length);
        const TileBiases<kTerms, kSpan> before(d_pairs, first + row, pair, sequence.length);
        float s[kSpan / 8][4], d_s[kSpan / 8][4];
        group_begin();
        multiply_rows<kDim>(s, q, tiles.keys(key_tile), span);
        multiply_rows<kDim>(d_s, d_o, tiles.values(key_tile), span);
        group_commit();
        group_wait<0>(s);
        group_wait<0>(d_s);
#pragma unroll
        for (int half = 0; half < kSpan; half += kHalf) {
          // On the diagonal the first two warps' queries do not see the second half.
          if (diagonal && span + half > 16 * warp) {
            clear_half(s, half);
            continue;
          }
#pragma unroll
          for (int n = half / 8; n < (half + kHalf) / 8; ++n) {
            const PairBits<kDrops> bits(row_keys, column + Mask::pair_key(static_cast<uint32_t>(span / 2 + 4 * n)));
#pragma unroll
            for (int e = 0; e < 4; ++e) {
              const int key = span + 8 * n + 2 * quad + e % 2;
              const int distance = row + e / 2 * 8 - key;
              const float content = s[n][e];
              const float key_bias = tiles.bias(key_tile, key) + of_pairs.at(n, e);
              const float x = units.adjusted(content, factors[e / 2], strip + distance, key_bias);
              float weight = exp2_fast(x * units.power - shift[e / 2]);
              if ((diagonal && distance < 0) || units.unseen(first - key_tile * kRows + distance)) weight = 0;
              float gradient = d_s[n][e];
              if constexpr (kDrops) gradient = bits.kept(mask, e) ? gradient * mask.scale() : 0.0f;
              s[n][e] = weight * (gradient - delta[e / 2]);
              if constexpr (kHasFactors<kTerms>) d_factor[e / 2] += s[n][e] * content;
            }
            before.add_to(d_pairs, first + row, pair, sequence.length, n, s[n]);
          }
        }
        const Weights<kSpan / 8> gradients_of_scores(s);
        group_begin();
        gradients_of_scores.template add_rows<kDim>(d_q, tiles.keys(key_tile), span);
        group_commit();
        if constexpr (kLearns) {
#pragma unroll
          for (int n = 0; n < kSpan / 8; ++n) {
#pragma unroll
            for (int e = 0; e < 4; ++e) {
              const int query = row + e / 2 * 8;
              const int key = span + 8 * n + 2 * quad + e % 2;
              slanted[query * kSlantedStride + key - query + kRows - 1] = from_float<bf16>(s[n][e]);
            }
          }
        }
        group_wait<0>(d_q);
      }
      __syncthreads();
      // The next write of the slanted tile is behind the barrier of the next turn.
      if constexpr (kLearns) add_diagonals(slanted, table_sums + (tile - key_tile) * kRows);
    }
    store_query_gradients<kDim, kTerms>(d_q, factors, d_factor, args, gradients, head, token, rows - row);
  }
  if constexpr (kLearns) {
    __syncthreads();
    float* to = gradients.table_parts + (static_cast<int64_t>(blockIdx.y) * args.heads + head) * args.longest;
    for (int m = thread; m < args.longest; m += kTiledThreads) to[m] = table_sums[m + kRows - 1];
  }
}

}  // namespace

void tiled_attention_queries(const Attention& args, const AttentionGradients& gradients, int64_t slots,
                             cudaStream_t stream) {
  const bool learns = gradients.table_parts != nullptr;
  const dim3 grid(static_cast<unsigned>(args.heads),
                  static_cast<unsigned>(learns ? slots : plan_capacity(args, kRows)));
  with_tiled_variant(args, [&]<int kDim, Terms kTerms, bool kDrops>() {
    if constexpr (kHasTable<kTerms>) {
      if (learns) {
        return launch("attention_backward of queries", queries_kernel<kDim, kTerms, kDrops, true>, grid, kTiledThreads,
                      shared_bytes<kDim, kTerms>(true, args.longest), stream, args, gradients);
      }
    }
    launch("attention_backward of queries", queries_kernel<kDim, kTerms, kDrops, false>, grid, kTiledThreads,
           shared_bytes<kDim, kTerms>(false, 0), stream, args, gradients);
  });
}

}  // namespace lengthwise::gpu
