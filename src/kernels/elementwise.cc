#include "kernels/elementwise.h"

#include <ATen/Dispatch.h>
#include <ATen/Parallel.h>

#include <cmath>
#include <vector>

#include "core/error.h"
#include "kernels/exp_negative.h"
#include "kernels/storage.h"

namespace lengthwise {
namespace {

/// Rows are dealt to this many groups so that sums over rows have one order for every thread count.
constexpr int64_t kGroups = 16;

int64_t row_grain(int64_t width) {
  return std::max<int64_t>(1, 16384 / std::max<int64_t>(1, width));
}

/// y[c] = x[c] * mask[row, c] for one row, computed in T.
template <class T, class From, class To>
void drop_row(const Dropout& dropout, int64_t row, int64_t width, const From* x, To* y) {
  if (!dropout.active()) {
    for (int64_t c = 0; c < width; ++c) y[c] = static_cast<To>(static_cast<T>(x[c]));
    return;
  }
  const uint32_t key = dropout_row(dropout.seed, static_cast<uint64_t>(row));
  const uint32_t threshold = dropout.threshold();
  const auto scale = static_cast<T>(dropout.scale());
  for_dropout_bits(key, width, [=](int64_t c, uint32_t bits) {
    const T value = static_cast<T>(x[c]) * scale;
    y[c] = static_cast<To>(bits >= threshold ? value : T(0));
  });
}

}  // namespace

void add_norm_forward(const at::Tensor& x, const at::Tensor& branch, const Dropout& dropout, const at::Tensor& gain,
                      at::Tensor& sum, at::Tensor& inverse, at::Tensor& normed) {
  const int64_t rows = x.size(0);
  const int64_t width = x.size(1);
  with_storages(normed, branch, [&]<class T, class S, class B>() {
    const T* x_data = x.const_data_ptr<T>();
    const B* branch_data = branch.defined() ? stored<B>(branch) : nullptr;
    const T* gain_data = gain.const_data_ptr<T>();
    T* sum_data = sum.data_ptr<T>();
    T* inverse_data = inverse.data_ptr<T>();
    S* normed_data = stored_mutable<S>(normed);
    at::parallel_for(0, rows, row_grain(width), [&](int64_t from, int64_t to) {
      for (int64_t row = from; row < to; ++row) {
        const T* in = x_data + row * width;
        T* total = sum_data + row * width;
        if (branch_data != nullptr && dropout.active()) {
          S* scratch = normed_data + row * width;
          drop_row<T>(dropout, row, width, branch_data + row * width, scratch);
          for (int64_t c = 0; c < width; ++c) total[c] = in[c] + static_cast<T>(scratch[c]);
        } else if (branch_data != nullptr) {
          const B* added = branch_data + row * width;
          for (int64_t c = 0; c < width; ++c) total[c] = in[c] + static_cast<T>(added[c]);
        } else if (total != in) {
          std::copy_n(in, width, total);
        }
        T squares = 0;
        for (int64_t c = 0; c < width; ++c) squares += total[c] * total[c];
        const T inv = 1 / std::sqrt(squares / static_cast<T>(width) + static_cast<T>(kNormEpsilon));
        inverse_data[row] = inv;
        S* out = normed_data + row * width;
        for (int64_t c = 0; c < width; ++c) out[c] = static_cast<S>(total[c] * inv * gain_data[c]);
      }
    });
  });
}

void add_norm_backward(const at::Tensor& d_normed, const at::Tensor& sum, const at::Tensor& inverse,
                       const at::Tensor& gain, const Dropout& dropout, at::Tensor& d_sum, at::Tensor& d_branch,
                       at::Tensor& d_gain) {
  const int64_t rows = sum.size(0);
  const int64_t width = sum.size(1);
  with_storages(d_normed, d_branch, [&]<class T, class S, class B>() {
    const S* d_normed_data = stored<S>(d_normed);
    const T* sum_data = sum.const_data_ptr<T>();
    const T* inverse_data = inverse.const_data_ptr<T>();
    const T* gain_data = gain.const_data_ptr<T>();
    T* d_sum_data = d_sum.data_ptr<T>();
    B* d_branch_data = d_branch.defined() ? stored_mutable<B>(d_branch) : nullptr;
    std::vector<T> partial(static_cast<size_t>(kGroups * width));
    T* partial_data = partial.data();
    at::parallel_for(0, kGroups, 1, [&](int64_t from, int64_t to) {
      for (int64_t group = from; group < to; ++group) {
        T* gain_sums = partial_data + group * width;
        for (int64_t row = rows * group / kGroups; row < rows * (group + 1) / kGroups; ++row) {
          const S* dn = d_normed_data + row * width;
          const T* s = sum_data + row * width;
          T* ds = d_sum_data + row * width;
          const T inv = inverse_data[row];
          T dot = 0;
          for (int64_t c = 0; c < width; ++c) {
            const T product = static_cast<T>(dn[c]) * s[c];
            dot += product * gain_data[c];
            gain_sums[c] += product * inv;
          }
          const T pull = dot * inv * inv * inv / static_cast<T>(width);
          for (int64_t c = 0; c < width; ++c) ds[c] += static_cast<T>(dn[c]) * gain_data[c] * inv - s[c] * pull;
          if (d_branch_data != nullptr) drop_row<T>(dropout, row, width, ds, d_branch_data + row * width);
        }
      }
    });
    T* d_gain_data = d_gain.data_ptr<T>();
    for (int64_t group = 0; group < kGroups; ++group) {
      for (int64_t c = 0; c < width; ++c) d_gain_data[c] += partial_data[group * width + c];
    }
  });
}

void dropout_forward(const at::Tensor& x, const Dropout& dropout, at::Tensor& y) {
  const int64_t width = x.size(1);
  if (!dropout.active() && x.const_data_ptr() == y.const_data_ptr()) return;
  with_storage(x, [&]<class T, class S>() {
    const S* from_data = stored<S>(x);
    S* to_data = stored_mutable<S>(y);
    at::parallel_for(0, x.size(0), row_grain(width), [&](int64_t from, int64_t to) {
      for (int64_t row = from; row < to; ++row) {
        drop_row<T>(dropout, row, width, from_data + row * width, to_data + row * width);
      }
    });
  });
}

void relu_dropout_forward(at::Tensor& x, const Dropout& dropout) {
  const int64_t width = x.size(1);
  with_storage(x, [&]<class T, class S>() {
    S* data = stored_mutable<S>(x);
    const uint32_t threshold = dropout.threshold();
    const auto scale = static_cast<T>(dropout.scale());
    at::parallel_for(0, x.size(0), row_grain(width), [&](int64_t from, int64_t to) {
      for (int64_t row = from; row < to; ++row) {
        S* values = data + row * width;
        if (!dropout.active()) {
          for (int64_t c = 0; c < width; ++c) values[c] = static_cast<S>(std::max(static_cast<T>(values[c]), T(0)));
          continue;
        }
        const uint32_t key = dropout_row(dropout.seed, static_cast<uint64_t>(row));
        for_dropout_bits(key, width, [=](int64_t c, uint32_t bits) {
          const T value = std::max(static_cast<T>(values[c]), T(0)) * scale;
          values[c] = static_cast<S>(bits >= threshold ? value : T(0));
        });
      }
    });
  });
}

void relu_dropout_backward(const at::Tensor& y, const Dropout& dropout, at::Tensor& dy) {
  with_storage(y, [&]<class T, class S>() {
    const S* values = stored<S>(y);
    S* gradient = stored_mutable<S>(dy);
    const auto factor = static_cast<T>(dropout.scale());
    at::parallel_for(0, y.numel(), 16384, [=](int64_t from, int64_t to) {
      // The compiler makes vectors of this loop only when `scale` is a local copy, which the stores cannot change, and
      // when the product stands outside the condition.
      const T scale = factor;
      for (int64_t i = from; i < to; ++i) {
        const T scaled = static_cast<T>(gradient[i]) * scale;
        gradient[i] = static_cast<S>(static_cast<T>(values[i]) > T(0) ? scaled : T(0));
      }
    });
  });
}

void embed_forward(const at::Tensor& table, const at::Tensor& tokens, const at::Tensor& addition,
                   const Dropout& dropout, at::Tensor& x) {
  const int64_t width = table.size(1);
  const int64_t* token_data = tokens.const_data_ptr<int64_t>();
  AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "embed_forward", [&] {
    const scalar_t* table_data = table.const_data_ptr<scalar_t>();
    const scalar_t* addition_data = addition.defined() ? addition.const_data_ptr<scalar_t>() : nullptr;
    scalar_t* x_data = x.data_ptr<scalar_t>();
    at::parallel_for(0, tokens.size(0), row_grain(width), [&](int64_t from, int64_t to) {
      for (int64_t row = from; row < to; ++row) {
        const scalar_t* embedding = table_data + token_data[row] * width;
        scalar_t* out = x_data + row * width;
        if (addition_data == nullptr) {
          drop_row<scalar_t>(dropout, row, width, embedding, out);
          continue;
        }
        for (int64_t c = 0; c < width; ++c) out[c] = embedding[c] + addition_data[row * width + c];
        drop_row<scalar_t>(dropout, row, width, out, out);
      }
    });
  });
}

void embed_backward(const at::Tensor& tokens, const Dropout& dropout, at::Tensor& dx, at::Tensor& d_table) {
  const int64_t width = dx.size(1);
  dropout_forward(dx, dropout, dx);
  const int64_t* token_data = tokens.const_data_ptr<int64_t>();
  AT_DISPATCH_FLOATING_TYPES(dx.scalar_type(), "embed_backward", [&] {
    const scalar_t* gradient = dx.const_data_ptr<scalar_t>();
    scalar_t* sums = d_table.data_ptr<scalar_t>();
    // Threads own columns, not rows: a token that occurs twice is then added in order and without a lock.
    at::parallel_for(0, width, 64, [&](int64_t from, int64_t to) {
      for (int64_t row = 0; row < tokens.size(0); ++row) {
        scalar_t* sum = sums + token_data[row] * width;
        const scalar_t* g = gradient + row * width;
        for (int64_t c = from; c < to; ++c) sum[c] += g[c];
      }
    });
  });
}

void cross_entropy(at::Tensor& logits, const at::Tensor& targets, double scale, at::Tensor& losses, at::Tensor& best) {
  const int64_t width = logits.size(1);
  const int64_t* target_data = targets.const_data_ptr<int64_t>();
  int64_t* best_data = best.data_ptr<int64_t>();
  AT_DISPATCH_FLOATING_TYPES(logits.scalar_type(), "cross_entropy", [&] {
    scalar_t* data = logits.data_ptr<scalar_t>();
    scalar_t* loss_data = losses.data_ptr<scalar_t>();
    at::parallel_for(0, logits.size(0), row_grain(width), [&](int64_t from, int64_t to) {
      for (int64_t row = from; row < to; ++row) {
        scalar_t* values = data + row * width;
        scalar_t largest = values[0];
        for (int64_t c = 1; c < width; ++c) largest = std::max(largest, values[c]);
        int64_t first = 0;
        while (first < width - 1 && values[first] != largest) ++first;
        best_data[row] = first;
        const int64_t target = target_data[row];
        const scalar_t target_value = values[target];
        scalar_t sum = 0;
        for (int64_t c = 0; c < width; ++c) {
          values[c] = exp_negative(values[c] - largest);
          sum += values[c];
        }
        loss_data[row] = std::log(sum) + largest - target_value;
        if (scale <= 0) continue;
        const scalar_t factor = static_cast<scalar_t>(scale) / sum;
        for (int64_t c = 0; c < width; ++c) values[c] *= factor;
        values[target] -= static_cast<scalar_t>(scale);
      }
    });
  });
}

}  // namespace lengthwise
