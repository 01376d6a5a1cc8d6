#include "kernels/adamw.h"

#include <ATen/ATen.h>
#include <ATen/Dispatch.h>
#include <ATen/Parallel.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#if defined(__ARM_NEON)
#include <arm_neon.h>
#endif

namespace lengthwise {
namespace {

constexpr int64_t kChunk = 16384;

/// The constants of a step, in the type of the parameters.
template <class T>
struct Constants {
  T beta1, beta2, fresh1, fresh2, rate, epsilon, scale;

  explicit Constants(const AdamWStep& step)
      : beta1(static_cast<T>(step.beta1)),
        beta2(static_cast<T>(step.beta2)),
        // Subtracted in double and then rounded: 1 - 0.999 in float is 0.00099999.
        fresh1(static_cast<T>(1 - step.beta1)),
        fresh2(static_cast<T>(1 - step.beta2)),
        rate(static_cast<T>(step.lr * std::sqrt(1 - std::pow(step.beta2, static_cast<double>(step.step))) /
                            (1 - std::pow(step.beta1, static_cast<double>(step.step))))),
        epsilon(static_cast<T>(step.epsilon)),
        scale(static_cast<T>(step.gradient_scale)) {}
};

template <class T>
void update(const Constants<T>& of, T decay, int64_t begin, int64_t end, T* value, T* gradient, T* m, T* v) {
  for (int64_t i = begin; i < end; ++i) {
    const T g = gradient[i] * of.scale;
    gradient[i] = 0;
    m[i] = of.beta1 * m[i] + of.fresh1 * g;
    v[i] = of.beta2 * v[i] + of.fresh2 * g * g;
    const T moved = value[i] - of.rate * m[i] / (std::sqrt(v[i]) + of.epsilon);
    value[i] = moved - decay * moved;
  }
}

#if defined(__ARM_NEON)

/// m / (sqrt(v) + epsilon) by estimates and two steps of Newton each: to a unit or two in the last place, several times
/// faster than the processor's own roots and divisions. A v below the normal numbers counts as the smallest of these.
[[gnu::always_inline]] inline float32x4_t direction(float32x4_t m, float32x4_t v, float32x4_t epsilon) {
  const float32x4_t positive = vmaxq_f32(v, vdupq_n_f32(std::numeric_limits<float>::min()));
  float32x4_t inverse_root = vrsqrteq_f32(positive);
  inverse_root = vmulq_f32(inverse_root, vrsqrtsq_f32(vmulq_f32(positive, inverse_root), inverse_root));
  inverse_root = vmulq_f32(inverse_root, vrsqrtsq_f32(vmulq_f32(positive, inverse_root), inverse_root));
  const float32x4_t below = vfmaq_f32(epsilon, positive, inverse_root);
  float32x4_t inverse = vrecpeq_f32(below);
  inverse = vmulq_f32(inverse, vrecpsq_f32(below, inverse));
  inverse = vmulq_f32(inverse, vrecpsq_f32(below, inverse));
  return vmulq_f32(m, inverse);
}

template <>
void update(const Constants<float>& of, float decay, int64_t begin, int64_t end, float* value, float* gradient,
            float* m, float* v) {
  const float32x4_t epsilon = vdupq_n_f32(of.epsilon);
  int64_t i = begin;
  for (; i + 4 <= end; i += 4) {
    const float32x4_t g = vmulq_n_f32(vld1q_f32(gradient + i), of.scale);
    vst1q_f32(gradient + i, vdupq_n_f32(0));
    const float32x4_t mean = vfmaq_n_f32(vmulq_n_f32(vld1q_f32(m + i), of.beta1), g, of.fresh1);
    const float32x4_t square = vfmaq_f32(vmulq_n_f32(vld1q_f32(v + i), of.beta2), vmulq_n_f32(g, of.fresh2), g);
    vst1q_f32(m + i, mean);
    vst1q_f32(v + i, square);
    const float32x4_t moved = vfmsq_n_f32(vld1q_f32(value + i), direction(mean, square, epsilon), of.rate);
    vst1q_f32(value + i, vfmsq_n_f32(moved, moved, decay));
  }
  // The last ones in a vector of their own: which element stands where must not change its bits.
  if (i == end) return;
  float rest[4][4] = {};
  const auto count = static_cast<size_t>(end - i);
  float* const arrays[] = {value + i, gradient + i, m + i, v + i};
  for (size_t a = 0; a < 4; ++a) std::copy_n(arrays[a], count, rest[a]);
  update(of, decay, 0, 4, rest[0], rest[1], rest[2], rest[3]);
  for (size_t a = 0; a < 4; ++a) std::copy_n(rest[a], count, arrays[a]);
}

#endif

}  // namespace

double arena_norm(const at::Tensor& values) {
  const int64_t chunks = (values.numel() + kChunk - 1) / kChunk;
  std::vector<double> sums(static_cast<size_t>(chunks));
  AT_DISPATCH_FLOATING_TYPES(values.scalar_type(), "arena_norm", [&] {
    const scalar_t* data = values.const_data_ptr<scalar_t>();
    at::parallel_for(0, chunks, 1, [&](int64_t from, int64_t to) {
      for (int64_t chunk = from; chunk < to; ++chunk) {
        const int64_t end = std::min(values.numel(), (chunk + 1) * kChunk);
        double sum = 0;
        for (int64_t i = chunk * kChunk; i < end; ++i)
          sum += static_cast<double>(data[i]) * static_cast<double>(data[i]);
        sums[static_cast<size_t>(chunk)] = sum;
      }
    });
  });
  double total = 0;
  for (const double sum : sums) total += sum;
  return std::sqrt(total);
}

void adamw_update(at::Tensor& values, at::Tensor& gradients, at::Tensor& first, at::Tensor& second, int64_t decayed,
                  const AdamWStep& step) {
  AT_DISPATCH_FLOATING_TYPES(values.scalar_type(), "adamw_update", [&] {
    scalar_t* value = values.data_ptr<scalar_t>();
    scalar_t* gradient = gradients.data_ptr<scalar_t>();
    scalar_t* m = first.data_ptr<scalar_t>();
    scalar_t* v = second.data_ptr<scalar_t>();
    const Constants<scalar_t> constants(step);
    const auto shrink = static_cast<scalar_t>(step.lr * step.weight_decay);
    at::parallel_for(0, values.numel(), kChunk, [&](int64_t from, int64_t to) {
      const int64_t border = std::clamp(decayed, from, to);
      update(constants, shrink, from, border, value, gradient, m, v);
      update(constants, scalar_t(0), border, to, value, gradient, m, v);
    });
  });
}

void plain_adamw_update(at::Tensor& values, at::Tensor& gradients, at::Tensor& first, at::Tensor& second,
                        int64_t decayed, const AdamWStep& step) {
  const auto count = static_cast<double>(step.step);
  const double rate = step.lr * std::sqrt(1 - std::pow(step.beta2, count)) / (1 - std::pow(step.beta1, count));
  gradients.mul_(step.gradient_scale);
  first.mul_(step.beta1).add_(gradients, 1 - step.beta1);
  second.mul_(step.beta2).addcmul_(gradients, gradients, 1 - step.beta2);
  values.addcdiv_(first, second.sqrt().add_(step.epsilon), -rate);
  values.narrow(0, 0, decayed).mul_(1 - step.lr * step.weight_decay);
  gradients.zero_();
}

}  // namespace lengthwise
