#pragma once
/// The optimizer's pass over the flat arenas.
///
/// AdamW as in the study (the transformers library's own): with m, v the moments of the clipped gradient g,
///     p -= lr sqrt(1 - beta2^t) / (1 - beta1^t) m / (sqrt(v) + eps);   then  p -= lr decay p  for the decayed part.
#include <ATen/core/Tensor.h>

#include <cstdint>

namespace lengthwise {

struct AdamWStep {
  int64_t step = 1;  ///< t, from 1
  double lr = 0;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
  double weight_decay = 0;
  double gradient_scale = 1;  ///< multiplies the gradient: the factor of clipping
};

/// The Euclidean norm, summed in double in an order that does not depend on the thread count.
double arena_norm(const at::Tensor& values);

/// One update; sets the gradients to zero on the way. `decayed` elements at the front are subject to weight decay.
void adamw_update(at::Tensor& values, at::Tensor& gradients, at::Tensor& first, at::Tensor& second, int64_t decayed,
                  const AdamWStep& step);

/// The same by tensor operations, on any device.
void plain_adamw_update(at::Tensor& values, at::Tensor& gradients, at::Tensor& first, at::Tensor& second,
                        int64_t decayed, const AdamWStep& step);

}  // namespace lengthwise
