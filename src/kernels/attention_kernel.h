#pragma once
/// The fused CPU attention of one sequence and head, forward and backward. Private to kernels/attention.cc.
#include <limits>

#include "kernels/attention_tile.h"
#include "kernels/attention_workspace.h"
#include "kernels/storage.h"

namespace lengthwise::attention_detail {

/// One kernel instance: the computing type, the type in memory and the padded width of a head.
template <class T, class S, int64_t kDim>
class Kernel {
 public:
  Kernel(const AttentionInputs& in, const Shape& shape) : in_(in), shape_(shape) {
    qkv_ = stored<S>(in.qkv);
    cos_ = shape.pairs > 0 ? in.cos.const_data_ptr<T>() : nullptr;
    sin_ = shape.pairs > 0 ? in.sin.const_data_ptr<T>() : nullptr;
    key_cos_ = in.key_cos.defined() ? in.key_cos.const_data_ptr<T>() : cos_;
    key_sin_ = in.key_cos.defined() ? in.key_sin.const_data_ptr<T>() : sin_;
    if (in.query_scale.defined()) query_scale_ = in.query_scale.const_data_ptr<T>();
    if (in.key_bias.defined()) key_bias_ = in.key_bias.const_data_ptr<T>();
    if (in.table.defined()) table_ = in.table.const_data_ptr<T>();
    if (in.dense.defined()) dense_ = in.dense.const_data_ptr<T>();
    threshold_ = in.dropout.threshold();
    keep_scale_ = static_cast<T>(in.dropout.scale());
  }

  void forward(int64_t sequence, int64_t head, Workspace<T>& w, S* out, T* log_sum) const {
    const int64_t begin = shape_.offsets[sequence];
    const int64_t length = shape_.offsets[sequence + 1] - begin;
    load_head(begin, length, head, w);
    w.dense = dense_of(sequence, head);
    transpose(w.k, length, w.k_columns);
    for (int64_t first = 0; first < length; first += kRows) {
      const int64_t rows = std::min(kRows, length - first);
      const int64_t low = first_key(first);
      const int64_t width = padded(first + rows) - low;
      row_times_columns<T, kDim>(w.q.data() + first * kDim, w.k_columns.data() + low, padded(length), width,
                                 tile_bias(w, first, low), w.scores.data(), width);
      for (int64_t r = 0; r < rows; ++r) {
        T* row = w.scores.data() + r * width;
        const int64_t query = first + r;
        add_rest(w, first, query, low, row);
        log_sum[(begin + query) * shape_.heads + head] =
            softmax_row(row, static_cast<int32_t>(query + 1 - low), static_cast<int32_t>(width));
        if (in_.dropout.active()) drop(begin + query, head, low, width, w, row);
      }
      weighted_rows<T, kDim>(w.scores.data(), width, w.v.data() + low * kDim, first + rows - low, w.out.data());
      for (int64_t r = 0; r < rows; ++r) {
        const T* row = w.out.data() + r * kDim;
        S* to = out + ((begin + first + r) * shape_.heads + head) * shape_.dim;
        for_each_dim([&](int64_t c) { to[c] = static_cast<S>(row[c]); });
      }
    }
  }

  void backward(int64_t sequence, int64_t head, Workspace<T>& w, const T* log_sum, const S* d_out,
                const HeadGradients<T, S>& to) const {
    const int64_t begin = shape_.offsets[sequence];
    const int64_t length = shape_.offsets[sequence + 1] - begin;
    load_head(begin, length, head, w);
    w.dense = dense_of(sequence, head);
    transpose(w.k, length, w.k_columns);
    transpose(w.v, length, w.v_columns);
    load_rows(d_out + (begin * shape_.heads + head) * shape_.dim, shape_.heads * shape_.dim, length, w.d_out);
    std::fill_n(w.d_k.begin(), padded(length) * kDim, T(0));
    std::fill_n(w.d_v.begin(), padded(length) * kDim, T(0));
    std::fill(w.d_bias.begin(), w.d_bias.end(), T(0));
    std::fill(w.d_key_bias.begin(), w.d_key_bias.end(), T(0));
    for (int64_t first = 0; first < length; first += kRows) {
      const int64_t rows = std::min(kRows, length - first);
      const int64_t count = first + rows;
      const int64_t low = first_key(first);
      const int64_t width = padded(count) - low;
      const int64_t stride = width + kLanes;
      const T* q = w.q.data() + first * kDim;
      const T* d_o = w.d_out.data() + first * kDim;
      T* const weights = w.scores.data() + kLanes;
      T* const d_scores = w.d_scores.data() + kLanes;
      row_times_columns<T, kDim>(q, w.k_columns.data() + low, padded(length), width, tile_bias(w, first, low), weights,
                                 stride);
      row_times_columns<T, kDim>(d_o, w.v_columns.data() + low, padded(length), width, {}, d_scores, stride);
      for (int64_t r = 0; r < rows; ++r) {
        T* p = weights + r * stride;
        T* ds = d_scores + r * stride;
        const int64_t query = first + r;
        add_rest(w, first, query, low, p);
        softmax_backward(begin + query, head, low, width, log_sum[(begin + query) * shape_.heads + head],
                         query + 1 - low, w, p, ds);
        if (to.dense != nullptr) {
          T* sums = to.dense + query * shape_.places + low;
          for (int64_t j = 0; j <= query - low; ++j) sums[j] += ds[j];
        }
      }
      // Rows behind the sequence's end: their queries and gradients are 0, so any finite weights do.
      std::fill_n(weights + rows * stride, (kRows - rows) * stride, T(0));
      std::fill_n(d_scores + rows * stride, (kRows - rows) * stride, T(0));
      weighted_rows<T, kDim>(d_scores, stride, w.k.data() + low * kDim, count - low, w.d_q.data());
      transposed_weighted_rows<T, kDim>(d_scores, stride, q, width, w.d_k.data() + low * kDim);
      transposed_weighted_rows<T, kDim>(weights, stride, d_o, width, w.d_v.data() + low * kDim);
      if (to.table != nullptr) {
        for (int64_t r = 0; r <= kRows; ++r) std::fill_n(d_scores + r * stride - kLanes, kLanes, T(0));
        add_diagonals(d_scores, stride, width, w.d_bias.data() + bias_of(length, first, low));
      }
      if (to.key_bias != nullptr) add_columns(d_scores, stride, width, w.d_key_bias.data() + low);
      // The loaded queries carry the scale; their own gradient gets it here.
      for (int64_t r = 0; r < rows; ++r) {
        const int64_t token = begin + first + r;
        T* d_q = w.d_q.data() + r * kDim;
        if (to.query_scale != nullptr) to.query_scale[token * shape_.heads + head] = unscaled_product(d_q, token, head);
        store_row(d_q, token, head, 0, scale_of(token, head), to.qkv);
      }
    }
    if (to.table != nullptr) {
      const T* sums = w.d_bias.data() + bias_of(length, 0, 0);
      for (int64_t m = 0; m < length; ++m) to.table[m] += sums[-m];
    }
    if (to.key_bias != nullptr) {
      for (int64_t j = 0; j < length; ++j)
        to.key_bias[(begin + j) * shape_.heads + head] = w.d_key_bias[static_cast<size_t>(j)];
    }
    for (int64_t j = 0; j < length; ++j) {
      store_row(w.d_k.data() + j * kDim, begin + j, head, 1, T(1), to.qkv);
      store_row(w.d_v.data() + j * kDim, begin + j, head, 2, T(1), to.qkv);
    }
  }

 private:
  int64_t row_stride() const { return shape_.row; }

  /// A loop over the head's width, which most heads share with kDim: then the compiler knows it.
  template <class Body>
  void for_each_dim(const Body& body) const {
    if (shape_.dim == kDim) {
      for (int64_t c = 0; c < kDim; ++c) body(c);
    } else {
      for (int64_t c = 0; c < shape_.dim; ++c) body(c);
    }
  }

  void load_rows(const S* from, int64_t stride, int64_t length, Buffer<T>& to) const {
    for (int64_t i = 0; i < length; ++i) {
      T* row = to.data() + i * kDim;
      const S* stored_row = from + i * stride;
      for_each_dim([&](int64_t c) { row[c] = static_cast<T>(stored_row[c]); });
      std::fill(row + shape_.dim, row + kDim, T(0));
    }
    std::fill(to.data() + length * kDim, to.data() + padded(length) * kDim, T(0));
  }

  /// A query (part 0) or a key (1); sign -1 takes a gradient back.
  void rotate(T* row, int64_t token, int64_t part, T sign) const {
    const T* cos = part == 0 ? cos_ : key_cos_;
    const T* sin = part == 0 ? sin_ : key_sin_;
    rotate_pairs(row, cos + token * shape_.pairs, sin + token * shape_.pairs, shape_.pairs, sign);
  }

  T scale_of(int64_t token, int64_t head) const {
    const T scale = static_cast<T>(in_.scale);
    return query_scale_ == nullptr ? scale : scale * query_scale_[token * shape_.heads + head];
  }

  /// The first key that a tile of queries reads: a whole number of vectors before the farthest that its first one sees.
  int64_t first_key(int64_t query) const {
    return in_.window > 0 && query >= in_.window ? (query - in_.window + 1) / kLanes * kLanes : 0;
  }

  /// [place, place] of one sequence and head; nullptr: none.
  const T* dense_of(int64_t sequence, int64_t head) const {
    if (dense_ == nullptr) return nullptr;
    const int64_t block = (in_.dense.size(0) == 1 ? 0 : sequence) * shape_.heads + head;
    return dense_ + block * shape_.places * shape_.places;
  }

  /// The gradient of a query's factor: its own gradient times what the factor multiplies.
  T unscaled_product(const T* d_q, int64_t token, int64_t head) const {
    T query[kDim] = {};
    const S* from = qkv_ + token * row_stride() + head * shape_.dim;
    for_each_dim([&](int64_t c) { query[c] = static_cast<T>(from[c]); });
    if (shape_.pairs > 0) rotate(query, token, 0, T(1));
    T sum = 0;
    for (int64_t c = 0; c < kDim; ++c) sum += query[c] * d_q[c];
    return sum * static_cast<T>(in_.scale);
  }

  /// Queries (rotated, scaled), keys (rotated) and values of one head as padded rows.
  void load_head(int64_t begin, int64_t length, int64_t head, Workspace<T>& w) const {
    const S* base = qkv_ + begin * row_stride() + head * shape_.dim;
    const int64_t part = shape_.heads * shape_.dim;
    load_rows(base, row_stride(), length, w.q);
    load_rows(base + part, row_stride(), length, w.k);
    load_rows(base + 2 * part, row_stride(), length, w.v);
    for (int64_t i = 0; i < length; ++i) {
      T* q = w.q.data() + i * kDim;
      if (shape_.pairs > 0) {
        rotate(q, begin + i, 0, T(1));
        rotate(w.k.data() + i * kDim, begin + i, 1, T(1));
      }
      const T scale = scale_of(begin + i, head);
      if (scale != T(1)) {
        for (int64_t c = 0; c < kDim; ++c) q[c] *= scale;
      }
    }
    w.length = length;
    if (key_bias_ != nullptr) {
      for (int64_t j = 0; j < length; ++j)
        w.key_bias[static_cast<size_t>(j)] = key_bias_[(begin + j) * shape_.heads + head];
      std::fill(w.key_bias.begin() + length, w.key_bias.end(), T(0));
    }
    if (table_ == nullptr) return;
    std::fill(w.bias.begin(), w.bias.end(), T(0));
    T* const own = w.bias.data() + bias_of(length, 0, 0);
    for (int64_t m = 0; m < length; ++m) own[-m] = table_[head * shape_.distances + m];
  }

  static void transpose(const Buffer<T>& rows, int64_t length, Buffer<T>& columns) {
    const int64_t stride = padded(length);
#if defined(__ARM_NEON)
    if constexpr (std::is_same_v<T, float>) return neon_transpose<kDim>(rows.data(), stride, columns.data());
#endif
    // As many rows at once as fill a cache line of a column.
    for (int64_t i = 0; i < stride; i += kLanes) {
      for (int64_t c = 0; c < kDim; ++c) {
        for (int64_t l = i; l < i + kLanes; ++l)
          columns[static_cast<size_t>(c * stride + l)] = rows[static_cast<size_t>(l * kDim + c)];
      }
    }
  }

  /// Where among a head's biases that of a query and a key stands.
  static int64_t bias_of(int64_t length, int64_t query, int64_t key) {
    return kLanes + length - 1 - query + key;
  }

  /// For the tile of queries from `first` on and the keys from `low` on. Of a key's own bias that of the query is taken
  /// away, which changes nothing in its row: sums over many tokens would swallow small differences.
  TileBias<T> tile_bias(const Workspace<T>& w, int64_t first, int64_t low) const {
    TileBias<T> bias;
    if (table_ != nullptr) bias.table = w.bias.data() + bias_of(w.length, first, low);
    if (key_bias_ != nullptr) {
      bias.keys = w.key_bias.data() + low;
      bias.own = w.key_bias.data() + first;
    }
    if (has_pairs(w, first)) {
      bias.pairs = w.dense + first * shape_.places + low;
      bias.apart = shape_.places;
    }
    return bias;
  }

  /// Whether tiles read dense biases as vectors: at the edge of the places there are none behind them.
  bool has_pairs(const Workspace<T>& w, int64_t first) const {
    return w.dense != nullptr && padded(first + kRows) <= shape_.places;
  }

  /// What else the scores of a query have, for the keys from `low` on: dense biases where its tile has none; those
  /// outside the window are out of reach.
  void add_rest(const Workspace<T>& w, int64_t first, int64_t query, int64_t low, T* row) const {
    if (w.dense != nullptr && !has_pairs(w, first)) {
      const T* bias = w.dense + query * shape_.places + low;
      for (int64_t j = 0; j <= query - low; ++j) row[j] += bias[j];
    }
    if (in_.window == 0) return;
    for (int64_t j = 0; j <= query - in_.window - low; ++j) row[j] = -std::numeric_limits<T>::infinity();
  }

  /// What dropout multiplies the weights of a query by, for `width` keys from `low` on, both whole vectors.
  void fill_mask(int64_t token, int64_t head, int64_t low, int64_t width, T* mask) const {
    const uint32_t key = dropout_row(in_.dropout.seed, static_cast<uint64_t>(token * shape_.heads + head));
    const uint32_t threshold = threshold_;
    const T keep = keep_scale_;
    for (int64_t j = 0; j < width; j += kLanes) {
      uint16_t bits[kLanes];
      dropout_block<kLanes>(key, static_cast<uint32_t>(low + j), bits);
      for (int64_t l = 0; l < kLanes; ++l) mask[j + l] = bits[l] >= threshold ? keep : T(0);
    }
  }

  void drop(int64_t token, int64_t head, int64_t low, int64_t width, Workspace<T>& w, T* row) const {
    T* mask = w.mask.data();
    fill_mask(token, head, low, width, mask);
    for (int64_t j = 0; j < width; ++j) row[j] *= mask[j];
  }

  void softmax_backward(int64_t token, int64_t head, int64_t low, int64_t width, T log_sum, int64_t keys,
                        Workspace<T>& w, T* p, T* ds) const {
    const T* mask = nullptr;
    if (in_.dropout.active()) {
      mask = w.mask.data();
      fill_mask(token, head, low, width, w.mask.data());
    }
    softmax_row_backward(log_sum, static_cast<int32_t>(keys), static_cast<int32_t>(width), mask, p, ds);
  }

  /// Writes one row of d_qkv; the gradients of queries and keys are rotated back.
  void store_row(T* row, int64_t token, int64_t head, int64_t part, T scale, S* d_qkv) const {
    if (part < 2 && shape_.pairs > 0) rotate(row, token, part, T(-1));
    S* to = d_qkv + token * row_stride() + (part * shape_.heads + head) * shape_.dim;
    for_each_dim([&](int64_t c) { to[c] = static_cast<S>(row[c] * scale); });
  }

  const AttentionInputs& in_;
  const Shape& shape_;
  const S* qkv_ = nullptr;
  const T* cos_ = nullptr;
  const T* sin_ = nullptr;
  const T* key_cos_ = nullptr;
  const T* key_sin_ = nullptr;
  const T* query_scale_ = nullptr;
  const T* key_bias_ = nullptr;
  const T* table_ = nullptr;
  const T* dense_ = nullptr;
  uint32_t threshold_ = 0;
  T keep_scale_ = 1;
};

}  // namespace lengthwise::attention_detail
