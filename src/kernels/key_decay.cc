#include "kernels/key_decay.h"

#include <ATen/Parallel.h>

#include <cmath>
#include <vector>

#include "kernels/storage.h"

namespace lengthwise {
namespace {

/// Numbers that a thread is worth.
constexpr int64_t kGrain = 2048;

template <class T>
T softplus(T z) {
  return std::max(z, T(0)) + std::log1p(std::exp(-std::abs(z)));
}

/// Calls function(sequence, head, first token, its end) for all of them, in parallel.
template <class Function>
void for_each_head(const at::Tensor& offsets, int64_t heads, const Function& function) {
  const int64_t* at = offsets.const_data_ptr<int64_t>();
  const int64_t sequences = offsets.size(0) - 1;
  const int64_t units = sequences * heads;
  const int64_t tokens = std::max<int64_t>(1, at[sequences]);
  at::parallel_for(0, units, std::max<int64_t>(1, kGrain * sequences / tokens), [&](int64_t from, int64_t to) {
    for (int64_t unit = from; unit < to; ++unit)
      function(unit / heads, unit % heads, at[unit / heads], at[unit / heads + 1]);
  });
}

}  // namespace

void key_decay_forward(const DecayInputs& in, at::Tensor& bias) {
  const int64_t heads = in.columns.size(1);
  const int64_t stride = in.columns.stride(0);
  with_storages(bias, in.columns, [&]<class T, class, class S>() {
    const S* x = stored<S>(in.columns);
    const T* constant = in.constant.const_data_ptr<T>();
    T* out = bias.data_ptr<T>();
    const auto sign = static_cast<T>(in.sign);
    for_each_head(in.offsets, heads, [&](int64_t, int64_t head, int64_t begin, int64_t end) {
      double sum = 0;
      for (int64_t token = begin; token < end; ++token) {
        sum += softplus(-sign * (static_cast<T>(x[token * stride + head]) + constant[head]));
        out[token * heads + head] = static_cast<T>(sum);
      }
    });
  });
}

void key_decay_backward(const DecayInputs& in, const at::Tensor& d_bias, at::Tensor& d_columns,
                        at::Tensor& d_constant) {
  const int64_t heads = in.columns.size(1);
  const int64_t stride = in.columns.stride(0);
  const int64_t d_stride = d_columns.stride(0);
  const int64_t sequences = in.offsets.size(0) - 1;
  with_storages(d_bias, in.columns, [&]<class T, class, class S>() {
    const S* x = stored<S>(in.columns);
    const T* constant = in.constant.const_data_ptr<T>();
    const T* d_out = d_bias.const_data_ptr<T>();
    S* d_x = stored_mutable<S>(d_columns);
    const auto sign = static_cast<T>(in.sign);
    std::vector<double> parts(static_cast<size_t>(sequences * heads));
    for_each_head(in.offsets, heads, [&](int64_t sequence, int64_t head, int64_t begin, int64_t end) {
      double behind = 0;  // gradients of this bias and of those behind it
      double total = 0;
      for (int64_t token = end; token-- > begin;) {
        behind += d_out[token * heads + head];
        const T z = sign * (static_cast<T>(x[token * stride + head]) + constant[head]);
        const T gradient = -sign * static_cast<T>(behind) / (1 + std::exp(z));
        d_x[token * d_stride + head] = static_cast<S>(gradient);
        total += gradient;
      }
      parts[static_cast<size_t>(sequence * heads + head)] = total;
    });
    T* d_c = d_constant.data_ptr<T>();
    for (int64_t head = 0; head < heads; ++head) {
      double sum = 0;
      for (int64_t sequence = 0; sequence < sequences; ++sequence)
        sum += parts[static_cast<size_t>(sequence * heads + head)];
      d_c[head] += static_cast<T>(sum);
    }
  });
}

}  // namespace lengthwise
