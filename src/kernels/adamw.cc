#include "kernels/adamw.h"

#include <ATen/ATen.h>
#include <ATen/Dispatch.h>
#include <ATen/Parallel.h>

#include <cmath>
#include <vector>

namespace lengthwise {
namespace {

constexpr int64_t kChunk = 16384;

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
    const auto count = static_cast<double>(step.step);
    const auto beta1 = static_cast<scalar_t>(step.beta1);
    const auto beta2 = static_cast<scalar_t>(step.beta2);
    // Subtracted in double and then rounded: 1 - 0.999 in float is 0.00099999.
    const auto fresh1 = static_cast<scalar_t>(1 - step.beta1);
    const auto fresh2 = static_cast<scalar_t>(1 - step.beta2);
    const auto rate =
        static_cast<scalar_t>(step.lr * std::sqrt(1 - std::pow(step.beta2, count)) / (1 - std::pow(step.beta1, count)));
    const auto epsilon = static_cast<scalar_t>(step.epsilon);
    const auto scale = static_cast<scalar_t>(step.gradient_scale);
    const auto shrink = static_cast<scalar_t>(step.lr * step.weight_decay);
    at::parallel_for(0, values.numel(), kChunk, [&](int64_t from, int64_t to) {
      const auto update = [&](int64_t begin, int64_t end, scalar_t decay) {
        for (int64_t i = begin; i < end; ++i) {
          const scalar_t g = gradient[i] * scale;
          gradient[i] = 0;
          m[i] = beta1 * m[i] + fresh1 * g;
          v[i] = beta2 * v[i] + fresh2 * g * g;
          const scalar_t moved = value[i] - rate * m[i] / (std::sqrt(v[i]) + epsilon);
          value[i] = moved - decay * moved;
        }
      };
      const int64_t border = std::clamp(decayed, from, to);
      update(from, border, shrink);
      update(border, to, 0);
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
