#include "gpu_kernels/attention_small.cuh"

namespace lengthwise::gpu {
namespace {

template <int kDim, int kTokens, Terms kTerms, bool kDrops>
__global__ void __launch_bounds__(2 * kTokens) forward(Attention args, bf16* out, float* log_sum) {
  begin();
  constexpr int kThreads = 2 * kTokens;
  constexpr int kParts = kTokens / 32;
  constexpr int kTile = kTokens * kTileStride<kDim>;
  bf16* q = reinterpret_cast<bf16*>(dynamic_shared());
  bf16* k = q + kTile;
  bf16* v = k + kTile;
  float* bias = reinterpret_cast<float*>(v + kTile);
  const int head = static_cast<int>(blockIdx.x);
  if (blockIdx.y == args.sequences) return clear_results(args, head, out, log_sum);
  const Sequence sequence = sequence_at(args, static_cast<int>(blockIdx.y));
  const int length = min(sequence.length, kTokens);
  if (length <= 0) return;
  const auto dim = static_cast<int>(args.dim);
  const int64_t part = args.heads * args.dim;
  const bf16* from = static_cast<const bf16*>(args.qkv) + sequence.begin * args.qkv_stride + head * dim;
  copy_tile<kDim, kTokens, kThreads>(q, from, args.qkv_stride, length, dim);
  copy_tile<kDim, kTokens, kThreads>(k, from + part, args.qkv_stride, length, dim);
  copies_commit();
  copy_tile<kDim, kTokens, kThreads>(v, from + 2 * part, args.qkv_stride, length, dim);
  copies_commit();
  const auto thread = static_cast<int>(threadIdx.x);
  load_biases<kTerms, kTokens>(bias, args, sequence, length, head);
  const int warp = warp_index();
  const int quad = thread % 4;
  const int row = 16 * warp + thread % 32 / 4;
  const Mask mask(args.dropout);
  uint32_t row_keys[2] = {0, 0};
  float factors[2];
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    const int64_t place = (sequence.begin + row + 8 * r) * args.heads + head;
    if constexpr (kDrops) row_keys[r] = mask.row(static_cast<uint64_t>(place));
    factors[r] = query_factor<kTerms>(args, place, row + 8 * r < length);
  }
  const ScoreUnits<kTerms> units(args);
  const PairBiases pairs = pair_biases<kTerms>(args, sequence, head);
  copies_wait<1>();
  __syncthreads();

  float s[kParts][4][4];
  float most[2] = {-INFINITY, -INFINITY};
#pragma unroll
  for (int p = 0; p < kParts; ++p) {
    if (32 * p > 16 * warp) continue;
    const TileBiases<kTerms> of_pairs(pairs, row, 32 * p + 2 * quad, length);
    clear(s[p]);
    add_scores<kDim>(s[p], q, 16 * warp, k, 32 * p);
#pragma unroll
    for (int n = 0; n < 4; ++n) {
#pragma unroll
      for (int e = 0; e < 4; ++e) {
        const int distance = row + e / 2 * 8 - (32 * p + 8 * n + 2 * quad + e % 2);
        const float x =
            units.adjusted(s[p][n][e], factors[e / 2], bias + max(distance, 0),
                           key_bias<kTerms, kTokens>(bias, 32 * p + 8 * n + 2 * quad + e % 2) + of_pairs.at(n, e));
        s[p][n][e] = distance < 0 || units.unseen(distance) ? -INFINITY : x;
        most[e / 2] = fmaxf(most[e / 2], s[p][n][e]);
      }
    }
  }
  float shift[2];
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    most[r] = fmaxf(most[r], __shfl_xor_sync(kAll, most[r], 1));
    most[r] = fmaxf(most[r], __shfl_xor_sync(kAll, most[r], 2));
    shift[r] = most[r] * units.power;
  }
  copies_wait<0>();
  __syncthreads();
  if (16 * warp >= length) return;

  float sum[2] = {0, 0};
  float o[kDim / 8][4];
  clear(o);
  const uint32_t column = Mask::pair_key(static_cast<uint32_t>(quad));
#pragma unroll
  for (int p = 0; p < kParts; ++p) {
    if (32 * p > 16 * warp) continue;
#pragma unroll
    for (int n = 0; n < 4; ++n) {
      const PairBits<kDrops> bits(row_keys, column + Mask::pair_key(static_cast<uint32_t>(16 * p + 4 * n)));
#pragma unroll
      for (int e = 0; e < 4; ++e) {
        const float weight = exp2_fast(s[p][n][e] * units.power - shift[e / 2]);
        sum[e / 2] += weight;
        s[p][n][e] = bits.kept(mask, e) ? weight : 0.0f;
      }
    }
#pragma unroll
    for (int n = 0; n < 4; n += 2) {
      uint32_t a[4];
      as_a(a, s[p][n], s[p][n + 1]);
      weigh_rows<kDim>(o, a, v, 32 * p + 8 * n);
    }
  }
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    sum[r] += __shfl_xor_sync(kAll, sum[r], 1);
    sum[r] += __shfl_xor_sync(kAll, sum[r], 2);
    const bool valid = row + 8 * r < length;
    const int64_t token = sequence.begin + row + 8 * r;
    store_row<kDim>(o, r, (kDrops ? mask.scale() : 1.0f) / sum[r], out + token * part + head * dim, dim, valid);
    if (valid && quad == 0) log_sum[token * args.heads + head] = units.natural(most[r]) + logf(sum[r]);
  }
}

}  // namespace

void small_attention_forward(const Attention& args, void* out, float* log_sum, cudaStream_t stream) {
  with_small_variant(args, [&]<int kDim, int kTokens, Terms kTerms, bool kDrops>() {
    launch("attention_forward", forward<kDim, kTokens, kTerms, kDrops>, small_grid(args), 2 * kTokens,
           small_shared_bytes<kDim, kTokens, kTerms>(3, 0), stream, args, static_cast<bf16*>(out), log_sum);
  });
}

}  // namespace lengthwise::gpu
