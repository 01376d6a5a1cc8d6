#include "gpu_kernels/attention_float.cuh"
#include "gpu_kernels/attention_kernels.h"

namespace lengthwise::gpu {
namespace {

template <int kDim>
constexpr size_t shared_bytes(int squares, int64_t more) {
  return (4 * kFloatTile<kDim> + static_cast<size_t>(squares * kFloatRows * kSquareStride + more)) * sizeof(float);
}

template <int kDim>
__global__ void __launch_bounds__(kFloatThreads) queries_kernel(Attention args, AttentionGradients gradients) {
  begin();
  float* q = reinterpret_cast<float*>(dynamic_shared());
  float* d_o = q + kFloatTile<kDim>;
  float* k = d_o + kFloatTile<kDim>;
  float* v = k + kFloatTile<kDim>;
  float* d_scores = v + kFloatTile<kDim>;
  float* table_sums = d_scores + kFloatRows * kSquareStride;  // [distance + 31]
  const bool learns = gradients.table_parts != nullptr;
  const int head = static_cast<int>(blockIdx.x);
  const auto thread = static_cast<int>(threadIdx.x);
  const auto longest = static_cast<int>(args.longest);
  const int64_t part = args.heads * args.dim;
  const int row = thread / 4;
  const int quad = thread % 4;
  const Mask mask(args.dropout);
  for (int m = thread; learns && m < longest + 2 * kFloatRows; m += kFloatThreads) table_sums[m] = 0;
  for (int item = static_cast<int>(blockIdx.y);; item += static_cast<int>(gridDim.y)) {
    const auto [sequence, tile] = item_at(args, item);
    if (sequence.length <= 0) break;
    const float* from = static_cast<const float*>(args.qkv) + sequence.begin * args.qkv_stride + head * args.dim;
    const int first = tile * kFloatRows;
    const int rows = min(kFloatRows, sequence.length - first);
    const bool valid = row < rows;
    const int64_t token = sequence.begin + first + row;
    const int64_t place = token * args.heads + head;
    const float* d_out = static_cast<const float*>(gradients.d_out) + (sequence.begin + first) * part + head * args.dim;
    const float* out = static_cast<const float*>(gradients.out) + (sequence.begin + first) * part + head * args.dim;
    __syncthreads();
    load_tile<kDim>(q, from + static_cast<int64_t>(first) * args.qkv_stride, args.qkv_stride, rows, args.dim);
    load_tile<kDim>(d_o, d_out, part, rows, args.dim);
    float delta = 0;
    for (int c = quad; valid && c < args.dim; c += 4) delta += d_out[row * part + c] * out[row * part + c];
    delta = quad_sum(delta);
    const float log_sum = valid ? gradients.log_sum[place] : INFINITY;
    if (valid && quad == 0) gradients.delta[place] = delta;
    const uint32_t row_key = mask.active() ? mask.row(static_cast<uint64_t>(place)) : 0;
    const PairBiases pairs = pair_biases<Terms::pairs>(args, sequence, head);
    const PairBiases d_pairs = pair_gradients<Terms::pairs>(args, gradients.d_dense, sequence, head);
    Result<kDim> d_q;
    d_q.clear();
    float d_factor = 0;
    for (int key_tile = ScoreUnits<Terms::pairs>(args).first_tile(first, kFloatRows); key_tile <= tile; ++key_tile) {
      const int key_first = key_tile * kFloatRows;
      const int keys = min(kFloatRows, sequence.length - key_first);
      const float* source = from + part + static_cast<int64_t>(key_first) * args.qkv_stride;
      __syncthreads();
      load_tile<kDim>(k, source, args.qkv_stride, keys, args.dim);
      load_tile<kDim>(v, source + part, args.qkv_stride, keys, args.dim);
      __syncthreads();
      float s[kScores], d_s[kScores];
      dot_products<kDim>(s, q, k);
      dot_products<kDim>(d_s, d_o, v);
#pragma unroll
      for (int i = 0; i < kScores; ++i) {
        const int key = 4 * i + quad;
        const float score = valid ? full_score(args, pairs, s[i], sequence, head, first + row, key_first + key) : 0.0f;
        const float weight = expf(score - log_sum);
        if (mask.active()) {
          d_s[i] = mask.keeps_at(row_key, static_cast<uint32_t>(key_first + key)) ? d_s[i] * mask.scale() : 0.0f;
        }
        const float d_score = weight * (d_s[i] - delta);
        d_factor += d_score * s[i];
        d_scores[row * kSquareStride + key] = d_score;
        d_pairs.add_one(first + row, key_first + key, sequence.length, d_score);
      }
      __syncthreads();
      d_q.add(d_scores, k);
      if (learns && thread < 2 * kFloatRows - 1) {
        const int distance = thread - (kFloatRows - 1);
        float sum = 0;
        for (int i = max(0, distance); i < min(kFloatRows, kFloatRows + distance); ++i) {
          sum += d_scores[i * kSquareStride + i - distance];
        }
        table_sums[(tile - key_tile) * kFloatRows + thread] += sum;
      }
    }
    d_factor = quad_sum(d_factor) * args.scale;
    if (!valid) continue;
    float* to = static_cast<float*>(gradients.d_qkv) + token * args.qkv_stride + head * args.dim;
    d_q.store_to(to, query_factor<Terms::pairs>(args, place, true), args, query_turn(args),
                 args.pairs > 0 ? token : -1);
    if (gradients.d_query_scale != nullptr && quad == 0) gradients.d_query_scale[place] = d_factor;
  }
  if (!learns) return;
  __syncthreads();
  float* to = gradients.table_parts + (static_cast<int64_t>(blockIdx.y) * args.heads + head) * args.longest;
  for (int m = thread; m < longest; m += kFloatThreads) to[m] = table_sums[m + kFloatRows - 1];
}

/// Rows are keys here, and the other tile's rows queries.
template <int kDim>
__global__ void __launch_bounds__(kFloatThreads) keys_kernel(Attention args, AttentionGradients gradients) {
  begin();
  float* k = reinterpret_cast<float*>(dynamic_shared());
  float* v = k + kFloatTile<kDim>;
  float* q = v + kFloatTile<kDim>;
  float* d_o = q + kFloatTile<kDim>;
  float* weights = d_o + kFloatTile<kDim>;
  float* d_scores = weights + kFloatRows * kSquareStride;
  const int head = static_cast<int>(blockIdx.x);
  float* d_qkv = static_cast<float*>(gradients.d_qkv);
  if (blockIdx.y + 1 == gridDim.y) return clear_rows(args, head, d_qkv, 3, args.qkv_stride);
  const auto [sequence, back] = item_at(args, static_cast<int>(blockIdx.y));
  if (sequence.length <= 0) return;
  const int tiles = (sequence.length + kFloatRows - 1) / kFloatRows;
  const int tile = tiles - 1 - back;
  const int64_t part = args.heads * args.dim;
  const float* from = static_cast<const float*>(args.qkv) + sequence.begin * args.qkv_stride + head * args.dim;
  const float* d_out = static_cast<const float*>(gradients.d_out) + sequence.begin * part + head * args.dim;
  const int first = tile * kFloatRows;
  const int rows = min(kFloatRows, sequence.length - first);
  const int row = static_cast<int>(threadIdx.x) / 4;
  const int quad = static_cast<int>(threadIdx.x) % 4;
  const Mask mask(args.dropout);
  const PairBiases pairs = pair_biases<Terms::pairs>(args, sequence, head);
  load_tile<kDim>(k, from + part + static_cast<int64_t>(first) * args.qkv_stride, args.qkv_stride, rows, args.dim);
  load_tile<kDim>(v, from + 2 * part + static_cast<int64_t>(first) * args.qkv_stride, args.qkv_stride, rows, args.dim);
  Result<kDim> d_k, d_v;
  d_k.clear();
  d_v.clear();
  float d_bias = 0;
  const int end_tile = ScoreUnits<Terms::pairs>(args).end_tile(first, kFloatRows, tiles);
  for (int query_tile = tile; query_tile < end_tile; ++query_tile) {
    const int query_first = query_tile * kFloatRows;
    const int queries = min(kFloatRows, sequence.length - query_first);
    __syncthreads();
    load_tile<kDim>(q, from + static_cast<int64_t>(query_first) * args.qkv_stride, args.qkv_stride, queries, args.dim);
    load_tile<kDim>(d_o, d_out + static_cast<int64_t>(query_first) * part, part, queries, args.dim);
    __syncthreads();
    float s[kScores], d_s[kScores];
    dot_products<kDim>(s, k, q);
    dot_products<kDim>(d_s, v, d_o);
#pragma unroll
    for (int i = 0; i < kScores; ++i) {
      const int query = 4 * i + quad;
      float weight = 0, factor = 1, delta = 0, own = 1;
      if (query < queries && row < rows) {
        const int64_t at = sequence.begin + query_first + query;
        const int64_t place = at * args.heads + head;
        weight = expf(full_score(args, pairs, s[i], sequence, head, query_first + query, first + row) -
                      gradients.log_sum[place]);
        delta = gradients.delta[place];
        if (args.query_scale != nullptr) own = args.query_scale[place];
        if (mask.active()) {
          const uint32_t row_key = mask.row(static_cast<uint64_t>(place));
          factor = mask.keeps_at(row_key, static_cast<uint32_t>(first + row)) ? mask.scale() : 0.0f;
        }
      }
      weights[row * kSquareStride + query] = weight * factor;
      const float d_score = weight * (d_s[i] * factor - delta);
      d_bias += d_score;
      d_scores[row * kSquareStride + query] = d_score * own;
    }
    __syncwarp();
    d_v.add(weights, d_o);
    d_k.add(d_scores, q);
  }
  d_bias = quad_sum(d_bias);
  if (row >= rows) return;
  const int64_t token = sequence.begin + first + row;
  if (gradients.d_key_bias != nullptr && quad == 0) gradients.d_key_bias[token * args.heads + head] = d_bias;
  float* to = d_qkv + token * args.qkv_stride + head * args.dim;
  d_k.store_to(to + part, args.scale, args, key_turn(args), args.pairs > 0 ? token : -1);
  d_v.store_to(to + 2 * part, 1.0f, args, {}, -1);
}

template <int kDim>
void run(const Attention& args, const AttentionGradients& gradients, int64_t slots, cudaStream_t stream) {
  const int64_t tiles = plan_capacity(args, kFloatRows);
  const bool learns = gradients.table_parts != nullptr;
  launch("attention_backward of queries", queries_kernel<kDim>,
         dim3(static_cast<unsigned>(args.heads), static_cast<unsigned>(learns ? slots : tiles)), kFloatThreads,
         shared_bytes<kDim>(1, learns ? args.longest + 2 * kFloatRows : 0), stream, args, gradients);
  launch("attention_backward of keys", keys_kernel<kDim>,
         dim3(static_cast<unsigned>(args.heads), static_cast<unsigned>(tiles + 1)), kFloatThreads,
         shared_bytes<kDim>(2, 0), stream, args, gradients);
}

}  // namespace

void float_attention_backward(const Attention& args, const AttentionGradients& gradients, int64_t slots,
                              cudaStream_t stream) {
  if (args.dim <= 16) return run<16>(args, gradients, slots, stream);
  if (args.dim <= 32) return run<32>(args, gradients, slots, stream);
  if (args.dim <= 64) return run<64>(args, gradients, slots, stream);
  run<128>(args, gradients, slots, stream);
}

}  // namespace lengthwise::gpu
