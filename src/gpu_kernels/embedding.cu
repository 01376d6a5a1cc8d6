#include "gpu_kernels/device.cuh"
#include "gpu_kernels/embedding.h"
#include "gpu_kernels/limits.h"

namespace lengthwise::gpu {
namespace {

constexpr int kBlock = 256;

__device__ __forceinline__ float4 plus(float4 a, float4 b) {
  return make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
}

/// One warp a row.
__global__ void __launch_bounds__(kBlock) forward(EmbedForward args) {
  begin();
  const int64_t row = (static_cast<int64_t>(blockIdx.x) * kBlock + threadIdx.x) / 32;
  if (row >= args.capacity) return;
  const bool real = args.rows == nullptr || row < *args.rows;
  const Mask mask(args.dropout);
  const uint32_t key = mask.active() ? mask.row(static_cast<uint64_t>(row)) : 0;
  const float* from = args.table + (real ? static_cast<int64_t>(args.tokens[row]) * args.width : 0);
  const float* more = args.addition;
  if (real && more != nullptr) more += (args.at != nullptr ? static_cast<int64_t>(args.at[row]) : row) * args.width;
  float* to = args.x + row * args.width;
  const auto width = static_cast<int>(args.width);
  constexpr int kHeld = 6;  // vectors read before the first is written
  for (int start = 4 * static_cast<int>(threadIdx.x % 32); start < width; start += 128 * kHeld) {
    float4 x[kHeld];
    float4 y[kHeld];
#pragma unroll
    for (int k = 0; k < kHeld; ++k) {
      x[k] = y[k] = make_float4(0, 0, 0, 0);
      if (start + 128 * k >= width || !real) continue;
      x[k] = fetch(from + start + 128 * k);
      if (more != nullptr) y[k] = fetch(more + start + 128 * k);
    }
#pragma unroll
    for (int k = 0; k < kHeld; ++k) {
      const int c = start + 128 * k;
      if (c >= width) continue;
      const float4 sum = plus(x[k], y[k]);
      store(to + c, mask.active() ? mask.apply(sum, key, static_cast<uint32_t>(c)) : sum);
    }
  }
}

/// Block (chunk, part of the columns): sums runs of equal keys within one chunk of the order. A run that began in an
/// earlier chunk goes to borders[chunk][0]; one that goes on in the next chunk, to borders[chunk][1]; others to the
/// table.
__global__ void chunk_kernel(EmbedBackward args) {
  begin();
  constexpr int kChunk = kEmbedChunk;
  __shared__ int32_t rows_here[kChunk];
  __shared__ int32_t keys_here[kChunk + 2];  // with the neighbours' keys at both ends
  const int real = args.rows != nullptr ? *args.rows : static_cast<int>(args.capacity);
  const int first = static_cast<int>(blockIdx.x) * kChunk;
  if (first >= real) return;
  const int count = min(kChunk, real - first);
  for (int i = static_cast<int>(threadIdx.x); i < kChunk + 2; i += static_cast<int>(blockDim.x)) {
    const int place = first + i - 1;
    const bool inside = place >= 0 && place < real && i < count + 2;
    const int32_t row = inside ? args.order[place] : 0;
    keys_here[i] = inside ? args.keys[row] : -1;
    if (i >= 1 && i <= kChunk) rows_here[i - 1] = row;
  }
  __syncthreads();
  const int column = 4 * static_cast<int>(blockIdx.y * blockDim.x + threadIdx.x);
  if (column >= args.width) return;
  float4 values[kChunk];
#pragma unroll
  for (int i = 0; i < kChunk; ++i) {
    if (i < count) values[i] = fetch(args.dx + rows_here[i] * args.width + column);
  }
  const Mask mask(args.dropout);
  const int64_t stride = args.width;
  float* border = args.borders + 2 * static_cast<int64_t>(blockIdx.x) * stride + column;
  float4 sum = make_float4(0, 0, 0, 0);
  bool open = keys_here[0] == keys_here[1];  // began in an earlier chunk
#pragma unroll
  for (int i = 0; i < kChunk; ++i) {
    if (i >= count) continue;
    float4 value = values[i];
    if (mask.active()) {
      value = mask.apply(value, mask.row(static_cast<uint64_t>(rows_here[i])), static_cast<uint32_t>(column));
    }
    sum = plus(sum, value);
    const int32_t key = keys_here[i + 1];
    const bool last = i + 1 == count;
    if (!last && keys_here[i + 2] == key) continue;
    const bool goes_on = last && keys_here[count + 1] == key;
    if (open) {
      store(border, sum);
    } else if (goes_on) {
      store(border + stride, sum);
    } else {
      float* to = args.d_table + key * stride + column;
      store(to, plus(fetch(to), sum));
    }
    sum = make_float4(0, 0, 0, 0);
    open = false;
  }
}

/// The block of the chunk where a run began that crosses borders: adds up its pieces.
__global__ void border_kernel(EmbedBackward args) {
  begin();
  constexpr int kChunk = kEmbedChunk;
  const int real = args.rows != nullptr ? *args.rows : static_cast<int>(args.capacity);
  const int last = static_cast<int>(blockIdx.x) * kChunk + kChunk - 1;
  if (last + 1 >= real) return;
  const auto key_at = [&](int place) { return args.keys[args.order[place]]; };
  const int32_t key = key_at(last);
  if (key_at(last + 1) != key) return;
  // A chunk that is one run from before to behind belongs to an earlier chunk's block.
  const int first = last - kChunk + 1;
  if (first > 0 && key_at(first - 1) == key) return;
  // How many chunks behind this one begin with the same run: whole warps look ahead, 32 chunks at a time.
  constexpr int kHeld = 8;
  int pieces = 0;
  for (;; pieces += 32) {
    const int begin_at = last + 1 + (pieces + static_cast<int>(threadIdx.x) % 32) * kChunk;
    const uint32_t same = __ballot_sync(kAll, begin_at < real && key_at(begin_at) == key);
    if (same == kAll) continue;
    pieces += __ffs(static_cast<int>(~same)) - 1;
    break;
  }
  const int column = 4 * static_cast<int>(blockIdx.y * blockDim.x + threadIdx.x);
  if (column >= args.width) return;
  const int64_t stride = args.width;
  const float* border = args.borders + 2 * static_cast<int64_t>(blockIdx.x) * stride + column;
  float4 sum = fetch(border + stride);
  for (int chunk = 1; chunk <= pieces; chunk += kHeld) {
    float4 held[kHeld];
#pragma unroll
    for (int h = 0; h < kHeld; ++h) {
      if (chunk + h <= pieces) held[h] = fetch(border + 2 * (chunk + h) * stride);
    }
#pragma unroll
    for (int h = 0; h < kHeld; ++h) {
      if (chunk + h <= pieces) sum = plus(sum, held[h]);
    }
  }
  float* to = args.d_table + key * stride + column;
  store(to, plus(fetch(to), sum));
}

void check_width(int64_t width) {
  require(width > 0 && width % kWidthStep == 0,
          "the embedding on the GPU wants a width that is a multiple of 4, not " + std::to_string(width));
}

}  // namespace

void embed_forward(const EmbedForward& args, cudaStream_t stream) {
  check_width(args.width);
  if (args.capacity == 0) return;
  launch("embed_forward", forward, static_cast<unsigned>((args.capacity + kBlock / 32 - 1) / (kBlock / 32)), kBlock, 0,
         stream, args);
}

void embed_backward(const EmbedBackward& args, cudaStream_t stream) {
  check_width(args.width);
  if (args.capacity == 0) return;
  const int64_t vectors = args.width / 4;
  const int64_t threads = vectors <= 256 ? (vectors + 31) / 32 * 32 : 256;
  const dim3 grid(static_cast<unsigned>((args.capacity + kEmbedChunk - 1) / kEmbedChunk),
                  static_cast<unsigned>((vectors + threads - 1) / threads));
  launch("embed_backward", chunk_kernel, grid, static_cast<unsigned>(threads), 0, stream, args);
  launch("embed_backward borders", border_kernel, grid, static_cast<unsigned>(threads), 0, stream, args);
}

}  // namespace lengthwise::gpu
