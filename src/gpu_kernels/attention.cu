#include <algorithm>

#include "gpu_kernels/attention.h"
#include "gpu_kernels/attention_kernels.h"
#include "gpu_kernels/attention_tiled_backward.h"
#include "gpu_kernels/device.cuh"
#include "gpu_kernels/limits.h"
#include "gpu_kernels/pair_map.cuh"

namespace lengthwise::gpu {
namespace {

constexpr int kBlock = 256;

/// plan[0] tiles in all; then (sequence, tile) for each, a sequence's last tile, which has the most keys, first.
__global__ void __launch_bounds__(kBlock) plan_kernel(const int32_t* offsets, int sequences, int tile, int32_t* plan) {
  begin();
  __shared__ int scratch[kBlock / 32];
  __shared__ int sums[kBlock];
  int before = 0;
  for (int first = 0; first < sequences; first += kBlock) {
    const int sequence = first + static_cast<int>(threadIdx.x);
    const int tiles = sequence < sequences ? (offsets[sequence + 1] - offsets[sequence] + tile - 1) / tile : 0;
    // Where this sequence's tiles begin: a scan over the block.
    sums[threadIdx.x] = tiles;
    __syncthreads();
    for (int reach = 1; reach < kBlock; reach *= 2) {
      const int more = static_cast<int>(threadIdx.x) >= reach ? sums[threadIdx.x - reach] : 0;
      __syncthreads();
      sums[threadIdx.x] += more;
      __syncthreads();
    }
    const int place = before + sums[threadIdx.x] - tiles;
    for (int t = 0; t < tiles; ++t) {
      plan[2 + 2 * (place + t)] = sequence;
      plan[3 + 2 * (place + t)] = tiles - 1 - t;
    }
    before += block_sum<kBlock>(tiles, scratch);
    __syncthreads();
  }
  if (threadIdx.x == 0) plan[0] = before;
}

/// Turns two pairs of a query or key in place.
template <class T>
__global__ void __launch_bounds__(kBlock) rotate_kernel(Attention args) {
  begin();
  const auto chunks = static_cast<int>((args.pairs + 1) / 2);
  const auto vectors = static_cast<int>(2 * args.heads) * chunks;  // of a token
  const auto at = static_cast<int64_t>(blockIdx.x) * kBlock + threadIdx.x;
  const int64_t token = at / vectors;
  if (token >= args.offsets[args.sequences]) return;
  const int vector = static_cast<int>(at % vectors);
  const int pair = vector % chunks * 2;
  T* place = static_cast<T*>(args.qkv) + token * args.qkv_stride + vector / chunks * args.dim + 2 * pair;
  const int64_t angle = token * args.pairs + pair;
  const bool both = pair + 1 < args.pairs;
  const bool own = args.key_cos != nullptr && vector / chunks >= args.heads;
  const float* from_cos = own ? args.key_cos : args.cos;
  const float* from_sin = own ? args.key_sin : args.sin;
  const float cos[2] = {from_cos[angle], both ? from_cos[angle + 1] : 1.0f};
  const float sin[2] = {from_sin[angle], both ? from_sin[angle + 1] : 0.0f};
  const float4 x = widen(fetch(place));
  store(place, make_float4(x.x * cos[0] - x.y * sin[0], x.y * cos[0] + x.x * sin[0], x.z * cos[1] - x.w * sin[1],
                           x.w * cos[1] + x.z * sin[1]));
}

__device__ __forceinline__ uint32_t turned(uint32_t pair, float cos, float sin) {
  const float x = low_of(pair);
  const float y = high_of(pair);
  return pack(x * cos - y * sin, y * cos + x * sin);
}

/// The same for bfloat16 with a multiple of four pairs, four at a time.
__global__ void __launch_bounds__(kBlock) rotate_fours_kernel(Attention args) {
  begin();
  const auto chunks = static_cast<uint32_t>(args.pairs) / 4;
  const auto heads = static_cast<uint32_t>(args.heads);
  const uint32_t vectors = 2 * heads * chunks;  // of a token
  const uint32_t at = blockIdx.x * kBlock + threadIdx.x;
  const uint32_t token = at / vectors;
  if (token >= static_cast<uint32_t>(args.offsets[args.sequences])) return;
  const uint32_t head = (at - token * vectors) / chunks;  // those of the keys behind those of the queries
  const uint32_t chunk = at - token * vectors - head * chunks;
  uint4* place =
      reinterpret_cast<uint4*>(static_cast<bf16*>(args.qkv) + token * args.qkv_stride + head * args.dim) + chunk;
  const bool own = args.key_cos != nullptr && head >= heads;
  const int64_t angle = token * args.pairs + 4 * chunk;
  const float4 cos = fetch((own ? args.key_cos : args.cos) + angle);
  const float4 sin = fetch((own ? args.key_sin : args.sin) + angle);
  const uint4 x = *place;
  *place = make_uint4(turned(x.x, cos.x, sin.x), turned(x.y, cos.y, sin.y), turned(x.z, cos.z, sin.z),
                      turned(x.w, cos.w, sin.w));
}

bool small(const Attention& shape) {
  return shape.storage == Storage::bfloat16 && shape.longest <= kSmallAttention;
}

int64_t tile_of(const Attention& shape) {
  return shape.storage == Storage::bfloat16 ? kAttentionTile : kFloatAttentionTile;
}

/// Blocks that fill the largest device, an H200 with 132 multiprocessors, three times over.
constexpr int64_t kBlocksInAll = 396;

/// An odd number of blocks a head. Odd, because a sequence's tiles cost more and more and come in runs: an even stride
/// through them would give some blocks all the costly ones.
int64_t slots_wanted(int64_t heads) {
  return std::max<int64_t>(1, kBlocksInAll / heads) | 1;
}

int64_t slots_of(const Attention& shape) {
  if (has_whole_shape(shape)) return shape.sequences | 1;
  return std::min(slots_wanted(shape.heads), plan_capacity(shape, tile_of(shape)));
}

/// With what may be left out.
Attention completed(Attention args) {
  if (args.qkv_stride == 0) args.qkv_stride = 3 * args.heads * args.dim;
  return args;
}

void check(const Attention& args) {
  require(runs_head(args.dim),
          "attention on the GPU runs heads of 8 to 128 dims in multiples of 8, not " + std::to_string(args.dim));
  require(2 * args.pairs <= args.dim,
          std::to_string(args.pairs) + " rotated pairs in a head of " + std::to_string(args.dim) + " dims");
  require(args.scale > 0, "attention on the GPU wants a positive scale");
  require(args.table == nullptr || args.distances >= args.longest, "a bias table of " + std::to_string(args.distances) +
                                                                       " distances for sequences of " +
                                                                       std::to_string(args.longest));
  require(args.qkv_stride >= 3 * args.heads * args.dim && args.qkv_stride % 8 == 0,
          std::to_string(args.qkv_stride) + " elements from one token's queries to the next");
  require(
      args.dense == nullptr || (args.dense_places >= args.longest && args.dense_places % 2 == 0),
      "biases of " + std::to_string(args.dense_places) + " places for sequences of " + std::to_string(args.longest));
  require(args.dense_map == nullptr || attention_dense_map_size(args) > 0, "a map of biases for a shape that has none");
  require(attention_plan_size(args) == 0 || args.plan != nullptr, "attention over tiles needs a plan");
  require(args.sequences + 1 <= 65535 && plan_capacity(args, tile_of(args)) + 1 <= 65535,
          "attention on the GPU takes at most 65534 sequences and as many tiles");
}

}  // namespace

int64_t plan_capacity(const Attention& shape, int64_t tile) {
  return std::min(shape.token_capacity / tile + shape.sequences, shape.sequences * ((shape.longest + tile - 1) / tile));
}

int64_t attention_plan_size(const Attention& shape) {
  return small(shape) ? 0 : 2 + 2 * plan_capacity(shape, tile_of(shape));
}

void attention_plan(const Attention& shape, int32_t* plan, cudaStream_t stream) {
  if (attention_plan_size(shape) == 0) return;
  launch("attention_plan", plan_kernel, 1, kBlock, 0, stream, shape.offsets, static_cast<int>(shape.sequences),
         static_cast<int>(tile_of(shape)), plan);
}

int64_t attention_table_parts(const Attention& shape) {
  return small(shape) ? shape.sequences : slots_of(shape);
}

int64_t most_attention_table_parts(int64_t sequences, int64_t heads) {
  return std::max(sequences | 1, slots_wanted(heads));
}

int64_t attention_dense_parts(const Attention& shape) {
  if (small(shape) || shape.storage != Storage::bfloat16 || !shape.dense_shared) return shape.sequences;
  if (attention_score_gradients_size(shape) > 0) return 1;
  const int64_t blocks = shape.heads * tile_pairs(shape);
  // The fewest with which the device is nearly full to the end: all blocks take the same time.
  int64_t parts = 1;
  const auto rounds = [&] { return (parts * blocks + kBlocksInAll - 1) / kBlocksInAll; };
  while (parts < shape.sequences && 20 * rounds() * kBlocksInAll > 23 * parts * blocks) ++parts;
  return parts;
}

void rotate_queries_and_keys(const Attention& given, cudaStream_t stream) {
  if (given.pairs == 0) return;
  const Attention args = completed(given);
  const int64_t fours = args.token_capacity * 2 * args.heads * (args.pairs / 4);
  if (args.storage == Storage::bfloat16 && args.pairs % 4 == 0 && fours < int64_t{1} << 31) {
    return launch("rotation", rotate_fours_kernel, static_cast<unsigned>((fours + kBlock - 1) / kBlock), kBlock, 0,
                  stream, args);
  }
  const int64_t threads = args.token_capacity * 2 * args.heads * ((args.pairs + 1) / 2);
  launch("rotation", args.storage == Storage::float32 ? rotate_kernel<float> : rotate_kernel<bf16>,
         static_cast<unsigned>((threads + kBlock - 1) / kBlock), kBlock, 0, stream, args);
}

void attention_forward(const Attention& given, void* out, float* log_sum, cudaStream_t stream) {
  const Attention args = completed(given);
  check(args);
  if (args.token_capacity == 0) return;
  rotate_queries_and_keys(args, stream);
  if (small(args)) return small_attention_forward(args, out, log_sum, stream);
  if (args.storage == Storage::bfloat16) return tiled_attention_forward(args, out, log_sum, stream);
  float_attention_forward(args, static_cast<float*>(out), log_sum, stream);
}

void attention_backward(const Attention& given, const AttentionGradients& gradients, cudaStream_t stream) {
  const Attention args = completed(given);
  check(args);
  require(gradients.table_parts == nullptr || (args.table != nullptr && args.longest <= kMostLearningDistances),
          "the gradient of a bias table is made for sequences of up to 8192 tokens");
  require(gradients.d_dense == nullptr || args.dense != nullptr, "a gradient of biases of pairs that are not there");
  require(
      gradients.d_dense == nullptr || gradients.score_gradients != nullptr || attention_score_gradients_size(args) == 0,
      "the gradient of biases of pairs wants room for those of scores");
  if (args.token_capacity == 0) return;
  if (small(args)) return small_attention_backward(args, gradients, stream);
  require(gradients.out != nullptr && gradients.delta != nullptr, "attention over tiles needs its result to go back");
  if (args.storage == Storage::bfloat16) return tiled_attention_backward(args, gradients, slots_of(args), stream);
  float_attention_backward(args, gradients, slots_of(args), stream);
}

}  // namespace lengthwise::gpu
