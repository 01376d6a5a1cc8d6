#include "gpu_kernels/attention_kernels.h"
#include "gpu_kernels/attention_tiled_backward.h"
#include "gpu_kernels/attention_whole.cuh"
#include "gpu_kernels/pair_map.cuh"

namespace lengthwise::gpu {
namespace {

constexpr int kDim = kWholeDim;
constexpr int kSize = kTileSize<kDim>;

/// Two warpgroups have a tile of keys each and meet the same tile of queries at a time. What both found out about its
/// scores' gradients lies in shared memory then, and each multiplies half of the dims of d_q out of it. The sums of d_q
/// wait in shared memory for the next two tiles of keys, where nobody but the thread that wrote them reads them.
template <class Kind>
__global__ void __launch_bounds__(kWholeThreads, 1) whole_kernel(Attention args, AttentionGradients gradients) {
  begin();
  constexpr Terms kTerms = Kind::kTerms;
  constexpr bool kDrops = Kind::kDrops;
  const int head = static_cast<int>(blockIdx.x);
  const auto thread = static_cast<int>(threadIdx.x);
  float* part_of_table =
      Kind::kLearns ? gradients.table_parts + (static_cast<int64_t>(blockIdx.y) * args.heads + head) * args.longest
                    : nullptr;
  if (blockIdx.y + 1 == gridDim.y) {
    // There is an odd number of parts.
    for (int m = thread; Kind::kLearns && args.sequences % 2 == 0 && m < args.longest; m += kWholeThreads)
      part_of_table[m] = 0;
    return clear_rows(args, head, static_cast<bf16*>(gradients.d_qkv), 3, args.qkv_stride);
  }
  const Sequence sequence = sequence_at(args, static_cast<int>(blockIdx.y));
  const WholeRoom<Kind> room(dynamic_shared(), args.longest);
  const WholeDiagonals<Kind> diagonals(room);
  if constexpr (Kind::kLearns) {
    for (int m = thread; m < args.longest; m += kWholeThreads) room.d_table[m] = 0;
    __syncthreads();
  }
  const auto put_table = [&] {
    if constexpr (!Kind::kLearns) return;
    __syncthreads();
    for (int m = thread; m < args.longest; m += kWholeThreads) part_of_table[m] = room.d_table[m];
  };
  if (sequence.length <= 0) return put_table();
  const int group = thread / kGroupThreads;
  const int warp = warp_index() % 4;
  const int quad = thread % 4;
  const int row = 16 * warp + thread % 32 / 4;
  const auto dim = static_cast<int>(args.dim);
  const int64_t part = args.heads * args.dim;
  const int tiles = (sequence.length + kRows - 1) / kRows;
  const bf16* from = static_cast<const bf16*>(args.qkv) + sequence.begin * args.qkv_stride + head * dim;
  const bf16* d_out = static_cast<const bf16*>(gradients.d_out) + sequence.begin * part + head * dim;
  const Mask mask(args.dropout);
  const ScoreUnits<kTerms> units(args);
  bf16* keys = room.keys + group * kSize;
  bf16* values = room.values + group * kSize;
  bf16* d_scores = room.d_scores + group * kSize;
  WholeDeltas deltas(args, gradients, sequence, head);
  const TilePairs<kTerms, Order::keys> pairs(args, sequence, head);
  uint4* score_gradients = kHasMap<kTerms> ? static_cast<uint4*>(gradients.score_gradients) : nullptr;
  if (score_gradients != nullptr)
    score_gradients += score_gradients_place(args, sequence.index, head) + thread % kGroupThreads;

  for (int query = thread; query < tiles * kRows; query += kWholeThreads) {
    const bool there = query < sequence.length;
    const int64_t at = (sequence.begin + (there ? query : 0)) * args.heads + head;
    // A query that is not there gets weights of 0.
    room.log_sums[query] = there ? gradients.log_sum[at] * kLog2e : INFINITY;
    if constexpr (kDrops) room.row_keys[query] = mask.row(static_cast<uint64_t>(at));
  }
  const auto copy_queries = [&](int tile, int key_tile) {
    const int first = tile * kRows;
    const int count = min(kRows, sequence.length - first);
    if (group == 0) {
      copy_rows<kDim>(room.queries + tile % 2 * kSize, from + static_cast<int64_t>(first) * args.qkv_stride,
                      args.qkv_stride, count, dim);
    } else {
      copy_rows<kDim>(room.d_outs + tile % 2 * kSize, d_out + first * part, part, count, dim);
    }
    if constexpr (kHasTable<kTerms>)
      copy_strip(room.strips + (2 * group + tile % 2) * kStrip, args, head, (tile - key_tile) * kRows - (kRows - 1));
    copies_commit();
  };

  for (int first_tile = 0; first_tile < tiles; first_tile += kWholeGroups) {
    const int key_tile = first_tile + group;
    const int first = key_tile * kRows;
    const int rows = min(kRows, sequence.length - first);  // 0 and less: the sequence ends with the other group's tile
    const bf16* own = from + part + static_cast<int64_t>(first) * args.qkv_stride;
    copy_rows<kDim>(keys, own, args.qkv_stride, rows, dim);
    copy_rows<kDim>(values, own + part, args.qkv_stride, rows, dim);
    copy_queries(first_tile, key_tile);
    if (first_tile == 0) deltas.fetch(0);
    float key_bias[2] = {0, 0};
    float d_bias[2] = {0, 0};
    if constexpr (kHasKeys<kTerms>) {
#pragma unroll
      for (int r = 0; r < 2; ++r) {
        if (args.key_bias != nullptr && row + 8 * r < rows)
          key_bias[r] = args.key_bias[(sequence.begin + first + row + 8 * r) * args.heads + head];
      }
    }
    const uint32_t columns[2] = {Mask::pair_key(static_cast<uint32_t>((first + row) / 2)),
                                 Mask::pair_key(static_cast<uint32_t>((first + row + 8) / 2))};
    const bool odd = row % 2 != 0;
    copies_wait<0>();
    group_publish();
    __syncthreads();
    if (first_tile == 0) {
      deltas.find(0, room.d_outs, room.deltas);
      __syncthreads();
    }
    float s[kRows / 8][4], d_s[kRows / 8][4];
    group_begin();
    multiply_rows<kDim>(s, keys, room.queries + first_tile % 2 * kSize, 0);
    multiply_rows<kDim>(d_s, values, room.d_outs + first_tile % 2 * kSize, 0);
    group_commit();
    // The biases of a tile are on their way beside its products. On the first one the second group's keys are all
    // behind the queries, whatever is added.
    const auto biases_of = [&](int tile) {
      return pairs.template span<kRows>(tile, min(key_tile, tile), 0, row, sequence.length);
    };
    auto of_pairs = biases_of(first_tile);
    float d_k[kDim / 8][4], d_v[kDim / 8][4];
    clear(d_k);
    clear(d_v);
    for (int tile = first_tile; tile < tiles; ++tile) {
      const bf16* q = room.queries + tile % 2 * kSize;
      const bf16* d_o = room.d_outs + tile % 2 * kSize;
      const bool more = tile + 1 < tiles;
      if (more) copy_queries(tile + 1, key_tile);
      if (more && first_tile == 0) deltas.fetch(tile + 1);
      const float* strip = room.strips + (2 * group + tile % 2) * kStrip + kRows - 1;
      const int behind = (tile - key_tile) * kRows;  // from a key to the query in the same place of its tile
      // How many of the tile's queries, from the lane's first one on, are in front of each of its keys.
      const int unseen[2] = {row - behind - 2 * quad, row + 8 - behind - 2 * quad};
      group_wait<0>(s);
      group_wait<0>(d_s);
#pragma unroll
      for (int n = 0; n < kRows / 8; ++n) {
        const int pair = 8 * n + 2 * quad;
        const float2 log_sum = *reinterpret_cast<const float2*>(room.log_sums + tile * kRows + pair);
        const float2 delta = *reinterpret_cast<const float2*>(room.deltas + tile * kRows + pair);
        uint2 row_keys = make_uint2(0, 0);
        if constexpr (kDrops) row_keys = *reinterpret_cast<const uint2*>(room.row_keys + tile * kRows + pair);
#pragma unroll
        for (int e = 0; e < 4; ++e) {
          const int query = pair + e % 2;
          const int key = row + e / 2 * 8;
          const float bias = key_bias[e / 2] + of_pairs.at(n, e);
          const float x = units.adjusted(s[n][e], units.scale, strip + query - key, bias);
          float weight = exp2_fast(x * units.power - (e % 2 == 0 ? log_sum.x : log_sum.y));
          if (8 * n + e % 2 < unseen[e / 2]) weight = 0;
          float gradient = d_s[n][e];
          s[n][e] = weight;
          if constexpr (kDrops) {
            const bool kept = mask.keeps(Mask::pair_bits(e % 2 == 0 ? row_keys.x : row_keys.y, columns[e / 2]), odd);
            s[n][e] = kept ? weight : 0.0f;
            gradient = kept ? gradient * mask.scale() : 0.0f;
          }
          d_s[n][e] = weight * (gradient - (e % 2 == 0 ? delta.x : delta.y));
          if constexpr (kHasKeys<kTerms>) d_bias[e / 2] += d_s[n][e];
        }
      }
      const Weights<kRows / 8> weights(s);
      const Weights<kRows / 8> gradients_of_scores(d_s);
      gradients_of_scores.put(d_scores);
      if constexpr (Kind::kLearns) diagonals.put(d_s);
      copies_wait<0>();
      group_publish();
      __syncthreads();
      // Behind the fence, which would wait for them.
      if (kHasMap<kTerms> && score_gradients != nullptr && key_tile <= tile) {
        uint4* to = score_gradients + (tile_pairs(tile) + key_tile) * kMapVectors;
#pragma unroll
        for (int c = 0; c < kMapChunks; ++c) to[c * kGroupThreads] = gradients_of_scores.two_blocks(c);
      }

      // d_q of the tile: this group's dims of it.
      float4* held = room.d_queries + (tile - kWholeGroups) * WholeRoom<Kind>::kBlocks * kWholeThreads + thread;
      float d_q[kOwnDims / 8][4];
#pragma unroll
      for (int n = 0; n < kOwnDims / 8; ++n) {
        const float4 sum = first_tile > 0 ? held[n * kWholeThreads] : make_float4(0, 0, 0, 0);
        d_q[n][0] = sum.x;
        d_q[n][1] = sum.y;
        d_q[n][2] = sum.z;
        d_q[n][3] = sum.w;
      }
      group_begin();
      for (int of = 0; of < kWholeGroups; ++of)
        add_turned<kDim>(d_q, room.d_scores + of * kSize, room.keys + of * kSize, group * kOwnDims);
      weights.template add_rows<kDim>(d_v, d_o, 0);
      gradients_of_scores.template add_rows<kDim>(d_k, q, 0);
      group_commit();
      group_begin();
      if (more) {
        multiply_rows<kDim>(s, keys, room.queries + (tile + 1) % 2 * kSize, 0);
        multiply_rows<kDim>(d_s, values, room.d_outs + (tile + 1) % 2 * kSize, 0);
      }
      group_commit();
      if (kHasMap<kTerms> && more) of_pairs = biases_of(tile + 1);
      if (more && first_tile == 0) deltas.find(tile + 1, room.d_outs + (tile + 1) % 2 * kSize, room.deltas);
      if constexpr (Kind::kLearns) diagonals.add_up();
      group_wait<1>(d_q);
      group_wait<1>(d_v);
      group_wait<1>(d_k);
      if (tile < first_tile + kWholeGroups) {  // no more keys
        const float factors[2] = {args.scale, args.scale};
        const float none[2] = {0, 0};
        store_query_gradients<kOwnDims, kTerms>(d_q, factors, none, args, gradients, head,
                                                sequence.begin + tile * kRows + row,
                                                sequence.length - tile * kRows - row, group * kOwnDims);
      } else {
#pragma unroll
        for (int n = 0; n < kOwnDims / 8; ++n)
          held[n * kWholeThreads] = make_float4(d_q[n][0], d_q[n][1], d_q[n][2], d_q[n][3]);
      }
      __syncthreads();
      if constexpr (Kind::kLearns) diagonals.add_to_table((tile - first_tile) * kRows, sequence.length);
    }
    store_key_gradients<kDim, kTerms>(d_k, d_v, d_bias, kDrops ? mask.scale() : 1.0f, args, gradients, head,
                                      sequence.begin + first + row, rows - row);
  }
  put_table();
}

}  // namespace

bool has_whole_shape(const Attention& shape) {
  return shape.storage == Storage::bfloat16 && shape.longest >= kLeastWholeAttention &&
         shape.longest <= kWholeAttention && shape.dim > kDim / 2 && shape.dim <= kDim;
}

bool runs_whole(const Attention& args) {
  const Terms terms = terms_of(args);
  return has_whole_shape(args) &&
         (terms == Terms::none || terms == Terms::table || terms == Terms::keys || terms == Terms::mapped);
}

void whole_attention_backward(const Attention& args, const AttentionGradients& gradients, cudaStream_t stream) {
  const dim3 grid(static_cast<unsigned>(args.heads), static_cast<unsigned>(args.sequences + 1));
  const auto run = [&]<class Kind>() {
    launch("attention_backward of whole sequences", whole_kernel<Kind>, grid, kWholeThreads,
           WholeRoom<Kind>::bytes(args.longest), stream, args, gradients);
  };
  const auto with_terms = [&]<Terms kTerms, bool kLearns>() {
    if (args.dropout.active()) return run.template operator()<WholeKind<kTerms, true, kLearns>>();
    run.template operator()<WholeKind<kTerms, false, kLearns>>();
  };
  const Terms terms = terms_of(args);
  if (terms == Terms::none) return with_terms.template operator()<Terms::none, false>();
  if (terms == Terms::keys) return with_terms.template operator()<Terms::keys, false>();
  if (terms == Terms::mapped) return with_terms.template operator()<Terms::mapped, false>();
  if (gradients.table_parts != nullptr) return with_terms.template operator()<Terms::table, true>();
  with_terms.template operator()<Terms::table, false>();
}

}  // namespace lengthwise::gpu
