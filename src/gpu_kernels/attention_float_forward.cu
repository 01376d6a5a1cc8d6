#include "gpu_kernels/attention_float.cuh"
#include "gpu_kernels/attention_kernels.h"

namespace lengthwise::gpu {
namespace {

template <int kDim>
constexpr size_t shared_bytes() {
  return (3 * kFloatTile<kDim> + kFloatRows * kSquareStride) * sizeof(float);
}

template <int kDim>
__global__ void __launch_bounds__(kFloatThreads) forward(Attention args, float* out, float* log_sum) {
  begin();
  float* q = reinterpret_cast<float*>(dynamic_shared());
  float* k = q + kFloatTile<kDim>;
  float* v = k + kFloatTile<kDim>;
  float* weights = v + kFloatTile<kDim>;
  const int head = static_cast<int>(blockIdx.x);
  if (blockIdx.y + 1 == gridDim.y) return clear_results(args, head, out, log_sum);
  const auto [sequence, tile] = item_at(args, static_cast<int>(blockIdx.y));
  if (sequence.length <= 0) return;
  const int64_t part = args.heads * args.dim;
  const float* from = static_cast<const float*>(args.qkv) + sequence.begin * args.qkv_stride + head * args.dim;
  const int first = tile * kFloatRows;
  const int rows = min(kFloatRows, sequence.length - first);
  const int row = static_cast<int>(threadIdx.x) / 4;
  const int quad = static_cast<int>(threadIdx.x) % 4;
  const int64_t token = sequence.begin + first + row;
  const Mask mask(args.dropout);
  const PairBiases pairs = pair_biases<Terms::pairs>(args, sequence, head);
  const uint32_t row_key = mask.active() ? mask.row(static_cast<uint64_t>(token * args.heads + head)) : 0;
  load_tile<kDim>(q, from + static_cast<int64_t>(first) * args.qkv_stride, args.qkv_stride, rows, args.dim);
  Result<kDim> o;
  o.clear();
  float most = -INFINITY;
  float sum = 0;
  for (int key_tile = ScoreUnits<Terms::pairs>(args).first_tile(first, kFloatRows); key_tile <= tile; ++key_tile) {
    const int key_first = key_tile * kFloatRows;
    const int keys = min(kFloatRows, sequence.length - key_first);
    const float* source = from + part + static_cast<int64_t>(key_first) * args.qkv_stride;
    __syncthreads();
    load_tile<kDim>(k, source, args.qkv_stride, keys, args.dim);
    load_tile<kDim>(v, source + part, args.qkv_stride, keys, args.dim);
    __syncthreads();
    float s[kScores];
    dot_products<kDim>(s, q, k);
    float highest = most;
#pragma unroll
    for (int i = 0; i < kScores; ++i) {
      s[i] = row < rows ? full_score(args, pairs, s[i], sequence, head, first + row, key_first + 4 * i + quad) : 0.0f;
      highest = fmaxf(highest, s[i]);
    }
    highest = fmaxf(highest, __shfl_xor_sync(kAll, highest, 1));
    highest = fmaxf(highest, __shfl_xor_sync(kAll, highest, 2));
    const float shift = highest == -INFINITY ? 0.0f : highest;  // with a window there may be no key yet
    const float shrink = expf(most - shift);
    most = highest;
    sum *= shrink;
    o.scale(shrink);
#pragma unroll
    for (int i = 0; i < kScores; ++i) {
      float weight = expf(s[i] - shift);
      sum += weight;
      if (mask.active()) {
        const auto key = static_cast<uint32_t>(key_first + 4 * i + quad);
        weight = mask.keeps_at(row_key, key) ? weight * mask.scale() : 0.0f;
      }
      weights[row * kSquareStride + 4 * i + quad] = weight;
    }
    __syncwarp();
    o.add(weights, v);
  }
  sum = quad_sum(sum);
  if (row >= rows) return;
  o.store_to(out + token * part + head * args.dim, 1.0f / sum, args, {}, -1);
  if (quad == 0) log_sum[token * args.heads + head] = most + logf(sum);
}

template <int kDim>
void run(const Attention& args, float* out, float* log_sum, cudaStream_t stream) {
  launch("attention_forward", forward<kDim>,
         dim3(static_cast<unsigned>(args.heads), static_cast<unsigned>(plan_capacity(args, kFloatRows) + 1)),
         kFloatThreads, shared_bytes<kDim>(), stream, args, out, log_sum);
}

}  // namespace

void float_attention_forward(const Attention& args, float* out, float* log_sum, cudaStream_t stream) {
  if (args.dim <= 16) return run<16>(args, out, log_sum, stream);
  if (args.dim <= 32) return run<32>(args, out, log_sum, stream);
  if (args.dim <= 64) return run<64>(args, out, log_sum, stream);
  run<128>(args, out, log_sum, stream);
}

}  // namespace lengthwise::gpu
