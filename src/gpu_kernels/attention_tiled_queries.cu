#include "gpu_kernels/attention_kernels.h"
#include "gpu_kernels/attention_tiled.cuh"
#include "gpu_kernels/attention_tiled_backward.h"

namespace lengthwise::gpu {
namespace {

constexpr int kHalf = 32;  ///< keys at a time, for fewer registers
constexpr int kCount = kHalf / 8;

template <int kDim>
constexpr size_t shared_bytes(bool learns, int64_t longest) {
  return 6 * kTileSize<kDim> * sizeof(bf16) + 2 * kStrip * sizeof(float) +
         (learns ? kTileSize<kRows> * sizeof(bf16) + static_cast<size_t>(longest + 2 * kRows) * sizeof(float) : 0);
}

/// sum over c of d_o[row, c] o[row, c] for the lane's two rows; four lanes share a row.
__device__ __forceinline__ float dot_rows(const bf16* a, const bf16* b, int dim, int quad) {
  float sum = 0;
  for (int c = 8 * quad; c < dim; c += 32) {
    const uint4 x = *reinterpret_cast<const uint4*>(a + c);
    const uint4 y = *reinterpret_cast<const uint4*>(b + c);
    sum += low_of(x.x) * low_of(y.x) + high_of(x.x) * high_of(y.x) + low_of(x.y) * low_of(y.y) +
           high_of(x.y) * high_of(y.y) + low_of(x.z) * low_of(y.z) + high_of(x.z) * high_of(y.z) +
           low_of(x.w) * low_of(y.w) + high_of(x.w) * high_of(y.w);
  }
  sum += __shfl_xor_sync(kAll, sum, 1);
  return sum + __shfl_xor_sync(kAll, sum, 2);
}

/// d_q of one tile of queries after the other, delta on the way, and the gradient of the table when it learns.
template <int kDim, bool kBias, bool kLearns>
__global__ void __launch_bounds__(kTiledThreads) queries_kernel(Attention args, AttentionGradients gradients) {
  begin();
  bf16* q = reinterpret_cast<bf16*>(dynamic_shared());
  bf16* d_o = q + kTileSize<kDim>;
  bf16* keys = d_o + kTileSize<kDim>;  // two tiles
  bf16* values = keys + 2 * kTileSize<kDim>;
  float* strips = reinterpret_cast<float*>(values + 2 * kTileSize<kDim>);
  bf16* d_scores = reinterpret_cast<bf16*>(strips + 2 * kStrip);             // [query, key]
  float* table_sums = reinterpret_cast<float*>(d_scores + kTileSize<kRows>);  // [distance + 63]
  const int head = static_cast<int>(blockIdx.x);
  const auto thread = static_cast<int>(threadIdx.x);
  const auto dim = static_cast<int>(args.dim);
  const auto longest = static_cast<int>(args.longest);
  const int64_t part = args.heads * args.dim;
  const int warp = thread / 32;
  const int quad = thread % 4;
  const int row = 16 * warp + thread % 32 / 4;
  const Mask mask(args.dropout);
  if constexpr (kLearns) {
    for (int m = thread; m < longest + 2 * kRows; m += kTiledThreads) table_sums[m] = 0;
  }
  for (int item = static_cast<int>(blockIdx.y);; item += static_cast<int>(gridDim.y)) {
    const auto [sequence, tile] = item_at(args, item);
    if (sequence.length <= 0) break;
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
    const bf16* d_out = static_cast<const bf16*>(gradients.d_out) + (sequence.begin + first) * part + head * dim;
    const bf16* out = static_cast<const bf16*>(gradients.out) + (sequence.begin + first) * part + head * dim;
    __syncthreads();
    copy_tile<kDim, kRows, kTiledThreads>(q, from + static_cast<int64_t>(first) * 3 * part, 3 * part, rows, dim);
    copy_tile<kDim, kRows, kTiledThreads>(d_o, d_out, part, rows, dim);
    copy_keys(0);
    const int64_t token = sequence.begin + first + row;
    float log_sum[2], delta[2];
    uint32_t row_keys[2] = {0, 0};
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      const bool valid = row + 8 * r < rows;
      const int64_t place = (token + 8 * r) * args.heads + head;
      const int64_t offset = valid ? (row + 8 * r) * part : 0;
      // A query that is not there gets weights of 0.
      log_sum[r] = valid ? gradients.log_sum[place] * kLog2e : INFINITY;
      delta[r] = dot_rows(d_out + offset, out + offset, dim, quad);
      if (!valid) delta[r] = 0;
      if (valid && quad == 0) gradients.delta[place] = delta[r];
      if (mask.active()) row_keys[r] = mask.row(static_cast<uint64_t>(place));
    }
    float d_q[kDim / 8][4];
    clear(d_q);
    for (int key_tile = 0; key_tile <= tile; ++key_tile) {
      const int buffer = key_tile % 2;
      bf16* k = keys + buffer * kTileSize<kDim>;
      const bf16* v = values + buffer * kTileSize<kDim>;
      const float* strip = strips + buffer * kStrip;
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
      const bool diagonal = key_tile == tile;
#pragma unroll
      for (int half = 0; half < kRows; half += kHalf) {
        const int used = diagonal ? min(kCount, 2 * (warp + 1) - half / 8) : kCount;
        if (16 * warp >= rows || used <= 0) {
          if constexpr (kLearns) {
            for (int n = 0; n < kCount; ++n) {
              uint32_t* words = reinterpret_cast<uint32_t*>(d_scores + row * kTileStride<kRows> + half + 8 * n) + quad;
              words[0] = words[4 * kTileStride<kRows>] = 0;
            }
          }
          continue;
        }
        float s[kCount][4], d_s[kCount][4];
        clear(s);
        clear(d_s);
        products_of_rows<kDim>(s, q, 16 * warp, k, half, used);
        products_of_rows<kDim>(d_s, d_o, 16 * warp, v, half, used);
#pragma unroll
        for (int n = 0; n < kCount; ++n) {
#pragma unroll
          for (int e = 0; e < 4; ++e) {
            const int key = half + 8 * n + 2 * quad + e % 2;
            const int distance = row + e / 2 * 8 - key;
            float score = s[n][e] * args.scale;
            if constexpr (kBias) score += strip[distance + kRows - 1];
            float weight = exp2_fast(score * kLog2e - log_sum[e / 2]);
            if (diagonal && distance < 0) weight = 0;
            float gradient = d_s[n][e];
            if (mask.active()) gradient *= mask.at(row_keys[e / 2], static_cast<uint32_t>(key_tile * kRows + key));
            s[n][e] = weight * (gradient - delta[e / 2]);
          }
        }
#pragma unroll
        for (int n = 0; n < kCount; n += 2) {
          uint32_t a[4];
          as_a(a, s[n], s[n + 1]);
          if constexpr (kLearns) {
            uint32_t* words = reinterpret_cast<uint32_t*>(d_scores + row * kTileStride<kRows> + half + 8 * n) + quad;
            words[0] = a[0];
            words[4 * kTileStride<kRows>] = a[1];
            words[4] = a[2];
            words[4 * kTileStride<kRows> + 4] = a[3];
          }
          if (n < used) weigh_rows<kDim>(d_q, a, k, half + 8 * n);
        }
      }
      __syncthreads();
      if constexpr (kLearns) {
        // Thread d adds up the diagonal of distance d - 63 within the tile. The next write of d_scores is behind the
        // barrier of the next turn.
        if (thread < 2 * kRows - 1) {
          const int distance = thread - (kRows - 1);
          const bf16* place = d_scores + max(0, distance) * kTileStride<kRows> + max(0, -distance);
          const int count = kRows - abs(distance);
          float sum = 0;
#pragma unroll 8
          for (int i = 0; i < count; ++i) sum += as_float(place[i * (kTileStride<kRows> + 1)]);
          table_sums[(tile - key_tile) * kRows + thread] += sum;
        }
      }
    }
    if (16 * warp < rows) {
      bf16* to = static_cast<bf16*>(gradients.d_qkv) + (sequence.begin + first) * 3 * part + head * dim;
#pragma unroll
      for (int r = 0; r < 2; ++r) {
        const bool valid = row + 8 * r < rows;
        if (valid && args.pairs > 0) rotate_back<kDim>(d_q, args, r, token + 8 * r);
        store_row<kDim>(d_q, r, args.scale, to + (row + 8 * r) * 3 * part, dim, valid);
      }
    }
  }
  if constexpr (kLearns) {
    __syncthreads();
    float* to = gradients.table_parts + (static_cast<int64_t>(blockIdx.y) * args.heads + head) * args.longest;
    for (int m = thread; m < longest; m += kTiledThreads) to[m] = table_sums[m + kRows - 1];
  }
}

template <int kDim, bool kBias, bool kLearns>
void run_with(const Attention& args, const AttentionGradients& gradients, int64_t blocks, cudaStream_t stream) {
  launch("attention_backward of queries", queries_kernel<kDim, kBias, kLearns>,
         dim3(static_cast<unsigned>(args.heads), static_cast<unsigned>(blocks)), kTiledThreads,
         shared_bytes<kDim>(kLearns, args.longest), stream, args, gradients);
}

template <int kDim>
void run(const Attention& args, const AttentionGradients& gradients, int64_t slots, cudaStream_t stream) {
  const int64_t tiles = plan_capacity(args, kRows);
  if (gradients.table_parts != nullptr) return run_with<kDim, true, true>(args, gradients, slots, stream);
  if (args.table != nullptr) return run_with<kDim, true, false>(args, gradients, tiles, stream);
  run_with<kDim, false, false>(args, gradients, tiles, stream);
}

}  // namespace

void tiled_attention_queries(const Attention& args, const AttentionGradients& gradients, int64_t slots,
                             cudaStream_t stream) {
  if (args.dim <= 16) return run<16>(args, gradients, slots, stream);
  if (args.dim <= 32) return run<32>(args, gradients, slots, stream);
  if (args.dim <= 64) return run<64>(args, gradients, slots, stream);
  run<128>(args, gradients, slots, stream);
}

}  // namespace lengthwise::gpu
