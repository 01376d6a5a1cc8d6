#pragma once
/// Residual, dropout and RMSNorm in one pass (kernels/elementwise.h has the same on the CPU).
///
///     sum = x + dropout(branch)
///     inverse = 1 / sqrt(mean(sum^2) + 1e-6)                     (the reciprocal standard deviation, rstd)
///     normed = dropout'(sum * inverse * gain) * normed_scale
///
/// x, sum, d_sum [row, width] float; branch, normed and their gradients [row, width] in T; inverse [row], gain [width]
/// float. width is a multiple of 4, at most 8,192. Rows from *rows on are written as 0. dropout' and normed_scale are
/// for the end of the model; both are off by default.
#include "gpu_kernels/launch.h"

namespace lengthwise::gpu {

/// The smallest gain that a norm's result can be divided by: far from where float and bfloat16 lose digits.
inline constexpr float kSmallGain = 0x1p-64f;

struct AddNormForward {
  Storage storage = Storage::bfloat16;  ///< T
  int64_t capacity = 0;                 ///< rows of the buffers
  int64_t width = 0;
  const int32_t* rows = nullptr;  ///< device: the real count; nullptr: all
  const float* x = nullptr;
  const void* branch = nullptr;  ///< nullptr: sum = x
  DropoutArgs dropout;           ///< of the branch; row = row
  const float* gain = nullptr;
  float* sum = nullptr;  ///< may be x
  float* inverse = nullptr;
  void* normed = nullptr;
  DropoutArgs normed_dropout;
  float normed_scale = 1;
};

void add_norm_forward(const AddNormForward& args, cudaStream_t stream);

/// d_sum = [d_sum +] gradient through the norm;  d_branch = d_sum * mask;  gain_parts [part, width]: sums over some of
/// the rows each, add_norm_parts() of them, every one written.
///
/// What the norm saw is read from `sum` or, without dropout' and scale, from `normed`: sum * inverse = normed / gain.
/// Then the sums need not be kept, only the last one, and in bfloat16 half as much is read; the gradient changes by the
/// rounding of `normed`. A gain of 0, or smaller than kSmallGain, leaves nothing in `normed` to divide: with both
/// given, such columns are read from `sum` (and the bits of all others are those without it); without `sum`, what the
/// norm saw there counts as 0.
struct AddNormBackward {
  Storage storage = Storage::bfloat16;
  int64_t capacity = 0;
  int64_t width = 0;
  const int32_t* rows = nullptr;
  const void* d_normed = nullptr;
  const float* sum = nullptr;
  const void* normed = nullptr;  ///< instead of `sum`, or beside it for the sake of small gains
  const float* inverse = nullptr;
  const float* gain = nullptr;
  DropoutArgs dropout;
  float* d_sum = nullptr;
  bool accumulate = true;    ///< false: d_sum is written, not added to
  void* d_branch = nullptr;  ///< nullptr: not wanted
  float* gain_parts = nullptr;
  DropoutArgs normed_dropout;
  float normed_scale = 1;
};

void add_norm_backward(const AddNormBackward& args, cudaStream_t stream);

/// How many parts the backward pass writes for a capacity of rows.
int64_t add_norm_parts(int64_t capacity);

}  // namespace lengthwise::gpu
