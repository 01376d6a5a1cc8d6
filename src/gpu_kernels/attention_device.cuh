#pragma once
/// What the bfloat16 kernels of attention share: tiles in shared memory and their fragments (ptx.cuh).
#include "gpu_kernels/attention.h"
#include "gpu_kernels/device.cuh"
#include "gpu_kernels/score_terms.cuh"
#include "gpu_kernels/tiles.cuh"

namespace lengthwise::gpu {

inline constexpr float kLog2e = 1.44269504088896341f;

/// The mask's bits for a lane's four scores of a product's tile: two neighbouring keys of two queries.
template <bool kDrops>
class PairBits {
 public:
  __device__ PairBits(const uint32_t (&row_keys)[2], uint32_t pair_key) {
    if constexpr (!kDrops) return;
    bits_[0] = Mask::pair_bits(row_keys[0], pair_key);
    bits_[1] = Mask::pair_bits(row_keys[1], pair_key);
  }

  __device__ bool kept(const Mask& mask, int element) const {
    return !kDrops || mask.keeps(bits_[element / 2], element % 2 != 0);
  }

 private:
  uint32_t bits_[2];
};

/// Item `item` of the plan, or a length of 0 behind its end.
struct Item {
  Sequence sequence;
  int tile;
};

__device__ __forceinline__ Item item_at(const Attention& args, int item) {
  if (item >= args.plan[0]) return {{0, 0, 0}, 0};
  return {sequence_at(args, args.plan[2 + 2 * item]), args.plan[3 + 2 * item]};
}

/// c [16, 32] += rows x_row .. x_row + 15 of a tile times the transposed rows row .. row + 31 of another.
template <int kDim>
__device__ __forceinline__ void add_scores(float (&c)[4][4], const bf16* x, int x_row, const bf16* tile, int row) {
#pragma unroll
  for (int k = 0; k < kDim / 16; ++k) {
    uint32_t a[4];
    load_a<kTileStride<kDim>>(a, x, x_row, 16 * k);
#pragma unroll
    for (int n = 0; n < 4; n += 2) {
      uint32_t b[4];
      load_b<kTileStride<kDim>>(b, tile, row + 8 * n, 16 * k);
      multiply_add(c[n], a, b[0], b[1]);
      multiply_add(c[n + 1], a, b[2], b[3]);
    }
  }
}

/// In which unit scores are compared. With x = adjusted(<q, k>), softmax's weight is 2^(x * power - shift): without a
/// bias the scale is part of the power and costs nothing.
template <Terms kTerms>
struct ScoreUnits {
  float scale, power;
  int window;  ///< the first distance that is not seen

  __device__ explicit ScoreUnits(const Attention& args)
      : scale(args.scale),
        power(kTerms == Terms::none ? args.scale * kLog2e : kLog2e),
        window(args.window > 0 ? static_cast<int>(args.window) : 0x7fffffff) {}

  /// `factor`: the scale with the query's own factor; `bias`: the table's.
  __device__ __forceinline__ float adjusted(float score, float factor, const float* bias, float key_bias) const {
    if constexpr (kTerms == Terms::none) return score;
    if constexpr (kTerms == Terms::table) return score * scale + *bias;
    if constexpr (kTerms == Terms::keys || kHasMap<kTerms>) return score * scale + key_bias;
    return score * factor + (*bias + key_bias);
  }
  __device__ __forceinline__ bool unseen(int distance) const { return kHasFactors<kTerms> && distance >= window; }
  /// From x to natural units.
  __device__ float natural(float x) const { return kTerms == Terms::none ? x * scale : x; }
  /// The shift of a softmax whose highest score so far is `highest`: with a window there may be none yet.
  __device__ __forceinline__ float shift_of(float highest) const {
    return kHasFactors<kTerms> && highest == -INFINITY ? 0.0f : highest * power;
  }
  /// Tiles of `rows` keys from this on are seen by queries from `first` on.
  __device__ __forceinline__ int first_tile(int first, int rows) const {
    return kHasFactors<kTerms> && window <= first ? (first - window + 1) / rows : 0;
  }
  /// Tiles of `rows` queries below this see some key of the tile of keys from `first` on.
  __device__ __forceinline__ int end_tile(int first, int rows, int tiles) const {
    if (!kHasFactors<kTerms> || window > tiles * rows) return tiles;
    return min(tiles, (first + rows - 1 + window - 1) / rows + 1);
  }
};

/// Calls run.template operator()<dim padded to 16, 32, 64 or 128, terms, dropout>(), but for Terms::mapped.
template <class Run>
void with_attention_variant(const Attention& args, const Run& run) {
  const auto with_terms = [&]<int kDim, Terms kTerms>() {
    if (args.dropout.active()) return run.template operator()<kDim, kTerms, true>();
    run.template operator()<kDim, kTerms, false>();
  };
  const auto with_dim = [&]<int kDim>() {
    const Terms terms = terms_of(args);
    if (terms == Terms::pairs) return with_terms.template operator()<kDim, Terms::pairs>();
    if (terms == Terms::several) return with_terms.template operator()<kDim, Terms::several>();
    if (terms == Terms::keys) return with_terms.template operator()<kDim, Terms::keys>();
    if (terms == Terms::table) return with_terms.template operator()<kDim, Terms::table>();
    with_terms.template operator()<kDim, Terms::none>();
  };
  if (args.dim <= 16) return with_dim.template operator()<16>();
  if (args.dim <= 32) return with_dim.template operator()<32>();
  if (args.dim <= 64) return with_dim.template operator()<64>();
  with_dim.template operator()<128>();
}

/// The scale of a query's scores, its own factor included.
template <Terms kTerms>
__device__ __forceinline__ float query_factor(const Attention& args, int64_t place, bool valid) {
  if (!kHasFactors<kTerms> || args.query_scale == nullptr || !valid) return args.scale;
  return args.scale * args.query_scale[place];
}

/// c [16, kDim] += a [16, 16] times rows `row` .. row + 15 of a tile.
template <int kDim>
__device__ __forceinline__ void weigh_rows(float (&c)[kDim / 8][4], const uint32_t (&a)[4], const bf16* tile, int row) {
#pragma unroll
  for (int n = 0; n < kDim / 8; n += 2) {
    uint32_t b[4];
    load_b_transposed<kTileStride<kDim>>(b, tile, row, 8 * n);
    multiply_add(c[n], a, b[0], b[1]);
    multiply_add(c[n + 1], a, b[2], b[3]);
  }
}

/// How queries or keys are turned.
struct Turn {
  const float *cos, *sin;
};

__device__ __forceinline__ Turn query_turn(const Attention& args) {
  return {args.cos, args.sin};
}

__device__ __forceinline__ Turn key_turn(const Attention& args) {
  return args.key_cos != nullptr ? Turn{args.key_cos, args.key_sin} : query_turn(args);
}

/// Turns a gradient of rotated vectors back; `row` 0 or 1 is the lane's first or second row of the fragment, whose
/// first columns are pair `first`.
template <int kDim>
__device__ __forceinline__ void rotate_back(float (&c)[kDim / 8][4], const Attention& args, Turn turn, int row,
                                            int64_t token, int first = 0) {
  const int quad = static_cast<int>(threadIdx.x) % 4;
  const auto pairs = static_cast<int>(args.pairs);
#pragma unroll
  for (int n = 0; n < kDim / 8; ++n) {
    const int pair = first + 4 * n + quad;
    if (pair >= pairs) continue;
    const float cos = turn.cos[token * pairs + pair];
    const float sin = turn.sin[token * pairs + pair];
    const float a = c[n][2 * row];
    const float b = c[n][2 * row + 1];
    c[n][2 * row] = a * cos + b * sin;
    c[n][2 * row + 1] = b * cos - a * sin;
  }
}

/// Writes one of the lane's two rows as bfloat16. The four lanes that share a row exchange their words first, so that
/// each writes 16 (or, in heads of 16, 8) bytes. Whole warps call this; `valid` says whether the row exists.
template <int kDim>
__device__ __forceinline__ void store_row(const float (&c)[kDim / 8][4], int row, float factor, bf16* to, int dim,
                                          bool valid) {
  const int quad = static_cast<int>(threadIdx.x) % 4;
  const bool odd = (quad & 1) != 0;
  const bool upper = (quad & 2) != 0;
  const auto word = [&](int n) { return pack(c[n][2 * row] * factor, c[n][2 * row + 1] * factor); };
  // Of blocks n and n + 1 every lane keeps one and gets the partner's words of the same.
  const auto trade = [&](int n, uint32_t& first, uint32_t& second) {
    const uint32_t even_word = word(n);
    const uint32_t odd_word = word(n + 1);
    const uint32_t other = __shfl_xor_sync(kAll, odd ? even_word : odd_word, 1);
    first = odd ? other : even_word;
    second = odd ? odd_word : other;
  };
  if constexpr (kDim == 16) {
    uint32_t first, second;
    trade(0, first, second);
    const int column = (odd ? 8 : 0) + (upper ? 4 : 0);
    if (valid && column < dim) *reinterpret_cast<uint2*>(to + column) = make_uint2(first, second);
  } else {
#pragma unroll
    for (int n = 0; n < kDim / 8; n += 4) {
      uint32_t a, b, x, y;
      trade(n, a, b);
      trade(n + 2, x, y);
      const uint32_t first = __shfl_xor_sync(kAll, upper ? a : x, 2);
      const uint32_t second = __shfl_xor_sync(kAll, upper ? b : y, 2);
      const int column = 8 * (n + quad);
      if (!valid || column >= dim) continue;
      *reinterpret_cast<uint4*>(to + column) =
          upper ? make_uint4(first, second, x, y) : make_uint4(a, b, first, second);
    }
  }
}

/// Over the four lanes that share a row.
__device__ __forceinline__ float quad_sum(float x) {
  x += __shfl_xor_sync(kAll, x, 1);
  return x + __shfl_xor_sync(kAll, x, 2);
}

/// Writes d_q of the lane's rows, `token` and token + 8, of which those less than `left` behind the first exist, and
/// the gradients of their factors. The columns are those of the head from `first` on.
template <int kDim, Terms kTerms>
__device__ __forceinline__ void store_query_gradients(float (&d_q)[kDim / 8][4], const float (&factors)[2],
                                                      const float (&d_factors)[2], const Attention& args,
                                                      const AttentionGradients& gradients, int head, int64_t token,
                                                      int left, int first = 0) {
  bf16* to = static_cast<bf16*>(gradients.d_qkv) + token * args.qkv_stride + head * args.dim + first;
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    const bool valid = 8 * r < left;
    if (valid && args.pairs > 0) rotate_back<kDim>(d_q, args, query_turn(args), r, token + 8 * r, first / 2);
    store_row<kDim>(d_q, r, factors[r], to + 8 * r * args.qkv_stride, static_cast<int>(args.dim) - first, valid);
    if constexpr (kHasFactors<kTerms>) {
      const float sum = quad_sum(d_factors[r]) * args.scale;
      if (valid && threadIdx.x % 4 == 0 && gradients.d_query_scale != nullptr)
        gradients.d_query_scale[(token + 8 * r) * args.heads + head] = sum;
    }
  }
}

/// Writes d_k and d_v of the lane's rows, `token` and token + 8, of which those less than `left` behind the first
/// exist, and the gradients of their biases.
template <int kDim, Terms kTerms>
__device__ __forceinline__ void store_key_gradients(float (&d_k)[kDim / 8][4], const float (&d_v)[kDim / 8][4],
                                                    const float (&d_bias)[2], float value_scale, const Attention& args,
                                                    const AttentionGradients& gradients, int head, int64_t token,
                                                    int left) {
  const int64_t part = args.heads * args.dim;
  bf16* to = static_cast<bf16*>(gradients.d_qkv) + token * args.qkv_stride + part + head * args.dim;
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    const bool valid = 8 * r < left;
    if (valid && args.pairs > 0) rotate_back<kDim>(d_k, args, key_turn(args), r, token + 8 * r);
    store_row<kDim>(d_k, r, args.scale, to + 8 * r * args.qkv_stride, static_cast<int>(args.dim), valid);
    store_row<kDim>(d_v, r, value_scale, to + part + 8 * r * args.qkv_stride, static_cast<int>(args.dim), valid);
    if constexpr (kHasKeys<kTerms>) {
      const float sum = quad_sum(d_bias[r]);
      if (valid && threadIdx.x % 4 == 0 && gradients.d_key_bias != nullptr)
        gradients.d_key_bias[(token + 8 * r) * args.heads + head] = sum;
    }
  }
}

/// Zeros in the rows that belong to no sequence, for one head: `stride` elements from one row to the next.
template <class T>
__device__ void clear_rows(const Attention& args, int head, T* to, int parts, int64_t stride) {
  const auto dim = static_cast<int>(args.dim);
  const int first = args.offsets[args.sequences];
  for (int row = first + static_cast<int>(threadIdx.x) / 32; row < args.token_capacity;
       row += static_cast<int>(blockDim.x) / 32) {
    for (int part = 0; part < parts; ++part) {
      T* place = to + row * stride + (part * args.heads + head) * dim;
      for (int c = 4 * (static_cast<int>(threadIdx.x) % 32); c < dim; c += 128)
        store(place + c, make_float4(0, 0, 0, 0));
    }
  }
}

template <class T>
__device__ void clear_results(const Attention& args, int head, T* out, float* log_sum) {
  clear_rows(args, head, out, 1, args.heads * args.dim);
  for (int64_t row = args.offsets[args.sequences] + static_cast<int>(threadIdx.x); row < args.token_capacity;
       row += blockDim.x) {
    log_sum[row * args.heads + head] = 0;
  }
}

}  // namespace lengthwise::gpu
