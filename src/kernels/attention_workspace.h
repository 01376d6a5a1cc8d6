#pragma once
/// What the fused CPU attention works on: the shape of its inputs, and the buffers of one sequence and head. Private to
/// kernels/attention.cc.
#include <new>
#include <vector>

#include "core/error.h"
#include "kernels/attention.h"
#include "kernels/attention_tile.h"

namespace lengthwise::attention_detail {

struct Shape {
  int64_t tokens, sequences, heads, dim, pairs, distances, longest;
  int64_t row;     ///< from a token of qkv to the next
  int64_t places;  ///< that the dense biases have
  const int64_t* offsets;
};

inline Shape shape_of(const AttentionInputs& in) {
  LENGTHWISE_CHECK(in.qkv.dim() == 2 && in.qkv.stride(1) == 1 && in.qkv.size(1) % (3 * in.heads) == 0,
                   "attention wants qkv [token, 3 * head * dim] with contiguous rows");
  LENGTHWISE_CHECK(in.offsets.is_contiguous() && in.offsets.scalar_type() == at::kLong, "offsets must be int64");
  Shape shape{};
  shape.tokens = in.qkv.size(0);
  shape.row = in.qkv.stride(0);
  shape.sequences = in.offsets.size(0) - 1;
  shape.heads = in.heads;
  shape.dim = in.qkv.size(1) / (3 * in.heads);
  shape.pairs = in.cos.defined() ? in.cos.size(1) : 0;
  shape.distances = in.table.defined() ? in.table.size(1) : 0;
  shape.offsets = in.offsets.const_data_ptr<int64_t>();
  for (int64_t s = 0; s < shape.sequences; ++s) {
    shape.longest = std::max(shape.longest, shape.offsets[s + 1] - shape.offsets[s]);
  }
  LENGTHWISE_CHECK(shape.offsets[shape.sequences] == shape.tokens, "offsets end at {}, not at {} tokens",
                   shape.offsets[shape.sequences], shape.tokens);
  LENGTHWISE_CHECK(2 * shape.pairs <= shape.dim, "{} rotated pairs in a head of {}", shape.pairs, shape.dim);
  LENGTHWISE_CHECK(!in.table.defined() || (in.table.size(0) == in.heads && shape.distances >= shape.longest),
                   "a bias table of {} distances for sequences of {}", shape.distances, shape.longest);
  LENGTHWISE_CHECK(!in.key_cos.defined() || (in.cos.defined() && in.key_cos.sizes() == in.cos.sizes()),
                   "keys are rotated in other pairs than queries");
  LENGTHWISE_CHECK(!in.query_scale.defined() || in.query_scale.sizes() == at::IntArrayRef({shape.tokens, in.heads}),
                   "factors of queries must be [token, head]");
  LENGTHWISE_CHECK(!in.key_bias.defined() || in.key_bias.sizes() == at::IntArrayRef({shape.tokens, in.heads}),
                   "biases of keys must be [token, head]");
  shape.places = in.dense.defined() ? in.dense.size(3) : 0;
  if (in.dense.defined()) {
    const int64_t blocks = in.dense.size(0);
    LENGTHWISE_CHECK((blocks == 1 || blocks == shape.sequences) && shape.places >= shape.longest &&
                         in.dense.sizes() == at::IntArrayRef({blocks, in.heads, shape.places, shape.places}) &&
                         in.dense.is_contiguous(),
                     "dense biases must be [sequence or 1, head, place, place], {} places at least", shape.longest);
  }
  LENGTHWISE_CHECK(shape.dim <= 128, "heads wider than 128 ({}) are not fused", shape.dim);
  return shape;
}

/// From the beginning of a cache line on, so that no vector of a buffer lies in two of them.
template <class T>
struct LineAllocator {
  using value_type = T;
  static constexpr std::align_val_t kLine{64};

  LineAllocator() = default;
  template <class U>
  LineAllocator(const LineAllocator<U>&) {}

  T* allocate(size_t count) { return static_cast<T*>(::operator new(count * sizeof(T), kLine)); }
  void deallocate(T* memory, size_t) { ::operator delete(memory, kLine); }
  bool operator==(const LineAllocator&) const = default;
};

template <class T>
using Buffer = std::vector<T, LineAllocator<T>>;

/// Where the gradients of one sequence and head go.
template <class T, class S>
struct HeadGradients {
  S* qkv;                     ///< of all heads
  T* table;                   ///< [distance], added to; nullptr: not wanted
  T *query_scale, *key_bias;  ///< of all heads, the same
  T* dense;                   ///< [place, place], added to
};

/// Everything one (sequence, head) needs, padded and reused from unit to unit by one thread.
template <class T>
struct Workspace {
  Buffer<T> q, k, v, k_columns, v_columns, out, d_out, d_q, d_k, d_v;
  // Of a tile of queries, a row each, kLanes behind the beginning and with as many between rows and behind them.
  Buffer<T> scores, d_scores;
  // kLanes zeros for queries behind the sequence's end, the biases of one head in descending order of distance, down to
  // the query itself, then as many zeros: those of a query's keys, in ascending order, lie side by side.
  Buffer<T> bias, d_bias;
  Buffer<T> key_bias, d_key_bias;  ///< of the head's keys, then zeros
  Buffer<T> mask;                  ///< of one query's weights
  int64_t length = 0;              ///< of the sequence at hand
  const T* dense = nullptr;        ///< [place, place] of the sequence and head at hand; nullptr: none

  void size_for(int64_t longest, int64_t dim, bool backward) {
    const auto rows = static_cast<size_t>(padded(longest) * dim);
    const auto tile = static_cast<size_t>(kRows * (padded(longest) + kLanes) + kLanes);
    q.resize(rows);
    k.resize(rows);
    v.resize(rows);
    k_columns.resize(rows);
    scores.resize(tile);
    out.resize(static_cast<size_t>(kRows * dim));
    bias.resize(static_cast<size_t>(kLanes + 2 * padded(longest)));
    key_bias.resize(static_cast<size_t>(padded(longest)));
    mask.resize(key_bias.size());
    if (!backward) return;
    v_columns.resize(rows);
    d_scores.resize(tile);
    d_bias.resize(bias.size());
    d_key_bias.resize(key_bias.size());
    d_out.resize(rows);
    d_q.resize(static_cast<size_t>(kRows * dim));
    d_k.resize(rows);
    d_v.resize(rows);
  }
};

}  // namespace lengthwise::attention_detail
