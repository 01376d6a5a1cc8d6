#include "kernels/key_decay.h"

#include <ATen/Parallel.h>

#include <cmath>
#include <vector>

#include "kernels/exp_negative.h"
#include "kernels/storage.h"

namespace lengthwise {
namespace {

/// Numbers that a thread is worth.
constexpr int64_t kGrain = 2048;

/// Tokens that are looked at together.
constexpr int64_t kBlock = 64;

// Loops over these become vectors in float; in double they call the library.

/// e^-|z|
inline float exp_of_size(float z) {
  return exp_negative(-std::abs(z));
}
inline double exp_of_size(double z) {
  return std::exp(-std::abs(z));
}

/// ln(1 + u) for 0 <= u <= 1. In float by 2 artanh(t), t = u / (2 + u) <= 1/3, as far as t^13.
inline float log_of_one_and(float u) {
  const float t = u / (2 + u);
  const float s = t * t;
  float sum = 1.0f / 13;
  sum = sum * s + 1.0f / 11;
  sum = sum * s + 1.0f / 9;
  sum = sum * s + 1.0f / 7;
  sum = sum * s + 1.0f / 5;
  sum = sum * s + 1.0f / 3;
  return 2 * t * (sum * s + 1);
}
inline double log_of_one_and(double u) {
  return std::log1p(u);
}

template <class T>
T softplus(T z) {
  return std::max(z, T(0)) + log_of_one_and(exp_of_size(z));
}

/// 1 / (1 + e^z)
template <class T>
T falling_sigmoid(T z) {
  const T e = exp_of_size(z);
  return (z > 0 ? e : T(1)) / (1 + e);
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
      T block[kBlock];
      for (int64_t first = begin; first < end; first += kBlock) {
        const int64_t count = std::min(kBlock, end - first);
        const S* from = x + first * stride + head;
        for (int64_t i = 0; i < count; ++i) block[i] = -sign * (static_cast<T>(from[i * stride]) + constant[head]);
        for (int64_t i = 0; i < count; ++i) block[i] = softplus(block[i]);
        for (int64_t i = 0; i < count; ++i) {
          sum += block[i];
          out[(first + i) * heads + head] = static_cast<T>(sum);
        }
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
      T block[kBlock];
      for (int64_t last = end; last > begin; last -= kBlock) {
        const int64_t count = std::min(kBlock, last - begin);
        const int64_t first = last - count;
        const S* from = x + first * stride + head;
        for (int64_t i = 0; i < count; ++i) block[i] = sign * (static_cast<T>(from[i * stride]) + constant[head]);
        for (int64_t i = 0; i < count; ++i) block[i] = falling_sigmoid(block[i]);
        for (int64_t i = count; i-- > 0;) {
          behind += d_out[(first + i) * heads + head];
          const T gradient = -sign * static_cast<T>(behind) * block[i];
          d_x[(first + i) * d_stride + head] = static_cast<S>(gradient);
          total += gradient;
        }
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
