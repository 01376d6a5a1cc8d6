#include "gpu_kernels/attention_kernels.h"
#include "gpu_kernels/attention_tiled.cuh"

namespace lengthwise::gpu {
namespace {

constexpr int kCount = kRows / 8;

/// The softmax of the lane's two rows so far.
struct Softmax {
  float most[2] = {-INFINITY, -INFINITY};
  float sum[2] = {0, 0};
};

template <int kDim>
constexpr size_t shared_bytes() {
  return 5 * kTileSize<kDim> * sizeof(bf16) + 2 * kStrip * sizeof(float);
}

/// Scores in units of log2; those of later keys are -inf.
template <bool kBias>
__device__ __forceinline__ void finish_scores(float (&s)[kCount][4], int row, int quad, const float* strip, float scale,
                                              bool diagonal) {
#pragma unroll
  for (int n = 0; n < kCount; ++n) {
#pragma unroll
    for (int e = 0; e < 4; ++e) {
      const int distance = row + e / 2 * 8 - (8 * n + 2 * quad + e % 2);
      float score = s[n][e] * scale;
      if constexpr (kBias) score += strip[distance + kRows - 1];
      s[n][e] = diagonal && distance < 0 ? -INFINITY : score * kLog2e;
    }
  }
}

template <int kDim, bool kBias>
__global__ void __launch_bounds__(kTiledThreads) forward(Attention args, bf16* out, float* log_sum) {
  begin();
  bf16* q = reinterpret_cast<bf16*>(dynamic_shared());
  bf16* keys = q + kTileSize<kDim>;  // two tiles
  bf16* values = keys + 2 * kTileSize<kDim>;
  float* strips = reinterpret_cast<float*>(values + 2 * kTileSize<kDim>);
  const int head = static_cast<int>(blockIdx.x);
  if (blockIdx.y + 1 == gridDim.y) return clear_results(args, head, out, log_sum);
  const auto [sequence, tile] = item_at(args, static_cast<int>(blockIdx.y));
  if (sequence.length <= 0) return;
  const auto dim = static_cast<int>(args.dim);
  const int64_t part = args.heads * args.dim;
  const bf16* from = static_cast<const bf16*>(args.qkv) + sequence.begin * 3 * part + head * dim;
  const int first = tile * kRows;
  const int rows = min(kRows, sequence.length - first);
  const auto copy_keys = [&](int key_tile) {
    const int buffer = key_tile % 2;
    const int count = min(kRows, sequence.length - key_tile * kRows);
    const bf16* source = from + part + static_cast<int64_t>(key_tile) * kRows * 3 * part;
    copy_tile<kDim, kRows, kTiledThreads>(keys + buffer * kTileSize<kDim>, source, 3 * part, count, dim);
    copy_tile<kDim, kRows, kTiledThreads>(values + buffer * kTileSize<kDim>, source + part, 3 * part, count, dim);
    if constexpr (kBias) copy_strip(strips + buffer * kStrip, args, head, (tile - key_tile) * kRows - (kRows - 1));
    copies_commit();
  };
  copy_tile<kDim, kRows, kTiledThreads>(q, from + static_cast<int64_t>(first) * 3 * part, 3 * part, rows, dim);
  copy_keys(0);

  const int warp = static_cast<int>(threadIdx.x) / 32;
  const int group = static_cast<int>(threadIdx.x) % 32 / 4;
  const int quad = static_cast<int>(threadIdx.x) % 4;
  const int row = 16 * warp + group;
  const int64_t token = sequence.begin + first + row;
  const Mask mask(args.dropout);
  uint32_t row_keys[2] = {0, 0};
  if (mask.active()) {
    row_keys[0] = mask.row(static_cast<uint64_t>(token * args.heads + head));
    row_keys[1] = mask.row(static_cast<uint64_t>((token + 8) * args.heads + head));
  }
  Softmax softmax;
  float o[kDim / 8][4];
  clear(o);
  for (int key_tile = 0; key_tile <= tile; ++key_tile) {
    const int buffer = key_tile % 2;
    bf16* k = keys + buffer * kTileSize<kDim>;
    const bf16* v = values + buffer * kTileSize<kDim>;
    if (key_tile < tile) {
      copy_keys(key_tile + 1);
      copies_wait<1>();
    } else {
      copies_wait<0>();
    }
    if (args.pairs > 0) {
      if (key_tile == 0) rotate_tile<kDim, kRows, kTiledThreads>(q, args, sequence.begin + first, rows);
      rotate_tile<kDim, kRows, kTiledThreads>(k, args, sequence.begin + key_tile * kRows,
                                              min(kRows, sequence.length - key_tile * kRows));
    }
    __syncthreads();
    if (16 * warp < rows) {
      const bool diagonal = key_tile == tile;
      const int used = diagonal ? 2 * (warp + 1) : kCount;
      float s[kCount][4];
      clear(s);
      products_of_rows<kDim>(s, q, 16 * warp, k, 0, used);
      finish_scores<kBias>(s, row, quad, strips + buffer * kStrip, args.scale, diagonal);
#pragma unroll
      for (int r = 0; r < 2; ++r) {
        float most = softmax.most[r];
#pragma unroll
        for (int n = 0; n < kCount; ++n) most = fmaxf(most, fmaxf(s[n][2 * r], s[n][2 * r + 1]));
        most = fmaxf(most, __shfl_xor_sync(kAll, most, 1));
        most = fmaxf(most, __shfl_xor_sync(kAll, most, 2));
        const float shrink = exp2_fast(softmax.most[r] - most);
        softmax.most[r] = most;
        softmax.sum[r] *= shrink;
#pragma unroll
        for (int c = 0; c < kDim / 8; ++c) {
          o[c][2 * r] *= shrink;
          o[c][2 * r + 1] *= shrink;
        }
      }
#pragma unroll
      for (int n = 0; n < kCount; n += 2) {
        if (n >= used) continue;
#pragma unroll
        for (int m = n; m < n + 2; ++m) {
#pragma unroll
          for (int e = 0; e < 4; ++e) {
            s[m][e] = exp2_fast(s[m][e] - softmax.most[e / 2]);
            softmax.sum[e / 2] += s[m][e];
            if (!mask.active()) continue;
            const int key = key_tile * kRows + 8 * m + 2 * quad + e % 2;
            s[m][e] *= mask.at(row_keys[e / 2], static_cast<uint32_t>(key));
          }
        }
        uint32_t a[4];
        as_a(a, s[n], s[n + 1]);
        weigh_rows<kDim>(o, a, v, 8 * n);
      }
    }
    __syncthreads();
  }
  if (16 * warp >= rows) return;
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    float sum = softmax.sum[r];
    sum += __shfl_xor_sync(kAll, sum, 1);
    sum += __shfl_xor_sync(kAll, sum, 2);
    const bool valid = row + 8 * r < rows;
    store_row<kDim>(o, r, 1.0f / sum, out + (token + 8 * r) * part + head * dim, dim, valid);
    if (valid && quad == 0) log_sum[(token + 8 * r) * args.heads + head] = softmax.most[r] / kLog2e + logf(sum);
  }
}

template <int kDim>
void run(const Attention& args, void* out, float* log_sum, cudaStream_t stream) {
  const dim3 grid(static_cast<unsigned>(args.heads), static_cast<unsigned>(plan_capacity(args, kRows) + 1));
  launch("attention_forward", args.table != nullptr ? forward<kDim, true> : forward<kDim, false>, grid, kTiledThreads,
         shared_bytes<kDim>(), stream, args, static_cast<bf16*>(out), log_sum);
}

}  // namespace

void tiled_attention_forward(const Attention& args, void* out, float* log_sum, cudaStream_t stream) {
  if (args.dim <= 16) return run<16>(args, out, log_sum, stream);
  if (args.dim <= 32) return run<32>(args, out, log_sum, stream);
  if (args.dim <= 64) return run<64>(args, out, log_sum, stream);
  run<128>(args, out, log_sum, stream);
}

}  // namespace lengthwise::gpu
