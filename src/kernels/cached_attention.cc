#include "kernels/cached_attention.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <vector>

#include "core/error.h"
#include "kernels/attention_tile.h"
#include "kernels/storage.h"

namespace lengthwise {
namespace {

constexpr int64_t kMostDims = 128;

/// One kernel instance; kDim is the head's width, or 0 where only the tensors know it.
template <class T, class S, int64_t kDim>
class Kernel {
 public:
  Kernel(const AttentionInputs& in, KeptKeys& kept)
      : heads_(in.heads),
        dim_(kept.keys.size(3)),
        capacity_(kept.keys.size(2)),
        pairs_(in.cos.defined() ? in.cos.size(1) : 0),
        scale_(static_cast<T>(in.scale)),
        qkv_(stored<S>(in.qkv)),
        keys_(stored_mutable<S>(kept.keys)),
        values_(stored_mutable<S>(kept.values)) {
    if (pairs_ > 0) {
      cos_ = in.cos.template const_data_ptr<T>();
      sin_ = in.sin.template const_data_ptr<T>();
      key_cos_ = in.key_cos.defined() ? in.key_cos.template const_data_ptr<T>() : cos_;
      key_sin_ = in.key_cos.defined() ? in.key_sin.template const_data_ptr<T>() : sin_;
    }
    if (in.query_scale.defined()) query_scale_ = in.query_scale.template const_data_ptr<T>();
    window_ = in.window;
    if (in.table.defined()) {
      table_ = in.table.template const_data_ptr<T>();
      distances_ = in.table.size(1);
    }
  }

  /// The key and the value of a token, to a place of a row.
  void store(int64_t token, int64_t head, int64_t row, int64_t place) const {
    T key[kMostDims];
    load(token, head, 1, key);
    S* to = keys_ + at(row, head, place);
    for (int64_t c = 0; c < dim(); ++c) to[c] = static_cast<S>(key[c]);
    std::copy_n(part(token, head, 2), dim(), values_ + at(row, head, place));
  }

  void attend(int64_t row, int64_t head, int64_t place, std::vector<T>& scores, S* out) const {
    T query[kMostDims];
    load(row, head, 0, query);
    const T scale = query_scale_ == nullptr ? scale_ : scale_ * query_scale_[row * heads_ + head];
    for (int64_t c = 0; c < dim(); ++c) query[c] *= scale;
    const int64_t first = window_ > 0 ? std::max<int64_t>(0, place - window_ + 1) : 0;
    const S* keys = keys_ + at(row, head, 0);
    const T* bias = table_ == nullptr ? nullptr : table_ + head * distances_ + place;
    for (int64_t j = first; j <= place; ++j) {
      const S* key = keys + j * dim();
      T score = bias == nullptr ? T(0) : bias[-j];
      for (int64_t c = 0; c < dim(); ++c) score += query[c] * static_cast<T>(key[c]);
      scores[static_cast<size_t>(j - first)] = score;
    }
    const auto seen = static_cast<int32_t>(place + 1 - first);
    attention_detail::softmax_row(scores.data(), seen, static_cast<int32_t>(attention_detail::padded(seen)));
    const S* values = values_ + at(row, head, 0);
    T result[kMostDims] = {};
    for (int64_t j = first; j <= place; ++j) {
      const T weight = scores[static_cast<size_t>(j - first)];
      const S* value = values + j * dim();
      for (int64_t c = 0; c < dim(); ++c) result[c] += weight * static_cast<T>(value[c]);
    }
    S* to = out + (row * heads_ + head) * dim();
    for (int64_t c = 0; c < dim(); ++c) to[c] = static_cast<S>(result[c]);
  }

 private:
  int64_t dim() const { return kDim > 0 ? kDim : dim_; }
  int64_t at(int64_t row, int64_t head, int64_t place) const {
    return ((row * heads_ + head) * capacity_ + place) * dim();
  }
  const S* part(int64_t token, int64_t head, int64_t which) const {
    return qkv_ + ((token * 3 + which) * heads_ + head) * dim();
  }

  /// A query or key, rotated.
  void load(int64_t token, int64_t head, int64_t which, T* to) const {
    const S* from = part(token, head, which);
    for (int64_t c = 0; c < dim(); ++c) to[c] = static_cast<T>(from[c]);
    if (pairs_ == 0) return;
    const T* cos = which == 0 ? cos_ : key_cos_;
    const T* sin = which == 0 ? sin_ : key_sin_;
    attention_detail::rotate_pairs(to, cos + token * pairs_, sin + token * pairs_, pairs_, T(1));
  }

  int64_t heads_, dim_, capacity_, pairs_, distances_ = 0;
  T scale_;
  const S* qkv_;
  S *keys_, *values_;
  int64_t window_ = 0;
  const T *cos_ = nullptr, *sin_ = nullptr, *key_cos_ = nullptr, *key_sin_ = nullptr, *table_ = nullptr;
  const T* query_scale_ = nullptr;
};

template <class Function>
void dispatch(const AttentionInputs& in, KeptKeys& kept, const Function& function) {
  const int64_t dim = kept.keys.size(3);
  LENGTHWISE_CHECK(dim <= kMostDims && in.qkv.size(1) == 3 * in.heads * dim && kept.keys.size(1) == in.heads &&
                       kept.keys.is_contiguous() && kept.values.is_contiguous() && in.qkv.is_contiguous(),
                   "kept keys of {} dims for heads of {}", dim, in.qkv.size(1) / 3 / in.heads);
  with_storage(in.qkv, [&]<class T, class S>() {
    if (dim == 32) return function.template operator()<T, S>(Kernel<T, S, 32>(in, kept));
    if (dim == 64) return function.template operator()<T, S>(Kernel<T, S, 64>(in, kept));
    function.template operator()<T, S>(Kernel<T, S, 0>(in, kept));
  });
}

}  // namespace

void store_keys(const AttentionInputs& inputs, int64_t first, KeptKeys& kept) {
  const int64_t sequences = inputs.offsets.size(0) - 1;
  const auto* offsets = inputs.offsets.const_data_ptr<int64_t>();
  LENGTHWISE_CHECK(first + sequences <= kept.keys.size(0), "{} sequences for {} rows", first + sequences,
                   kept.keys.size(0));
  dispatch(inputs, kept, [&]<class T, class S>(const auto& kernel) {
    at::parallel_for(0, sequences, 1, [&](int64_t from, int64_t to) {
      for (int64_t s = from; s < to; ++s) {
        for (int64_t token = offsets[s]; token < offsets[s + 1]; ++token) {
          for (int64_t h = 0; h < inputs.heads; ++h) kernel.store(token, h, first + s, token - offsets[s]);
        }
      }
    });
  });
}

void cached_attention(const AttentionInputs& inputs, const at::Tensor& places, KeptKeys& kept, at::Tensor& out) {
  const int64_t capacity = kept.keys.size(2);
  LENGTHWISE_CHECK(!inputs.table.defined() || inputs.table.size(1) >= capacity, "a table of {} distances for {} keys",
                   inputs.table.size(1), capacity);
  const auto* place = places.const_data_ptr<int64_t>();
  dispatch(inputs, kept, [&]<class T, class S>(const auto& kernel) {
    S* results = stored_mutable<S>(out);
    at::parallel_for(0, places.size(0), 1, [&](int64_t from, int64_t to) {
      std::vector<T> scores(static_cast<size_t>(attention_detail::padded(capacity)));
      for (int64_t row = from; row < to; ++row) {
        for (int64_t h = 0; h < inputs.heads; ++h) {
          kernel.store(row, h, row, place[row]);
          kernel.attend(row, h, place[row], scores, results);
        }
      }
    });
  });
}

}  // namespace lengthwise
