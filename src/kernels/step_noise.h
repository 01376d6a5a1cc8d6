#pragma once
/// The random numbers of one training step, as tensors on any device: for values of an encoding that are drawn anew in
/// every step.
///
/// They are those of kernels/dropout.h, hashes of (seed, row, column): a step has the same ones on every device and
/// whenever it is repeated. The step's seed is a number or, where steps are captured into graphs and replayed, a tensor
/// that every step writes before it asks for values. Numbers are computed from it by tensor operations, which are
/// captured with the rest: a replayed step draws its own, not those of the step that was captured.
#include <ATen/core/Tensor.h>

#include <cstdint>

namespace lengthwise {

class StepNoise {
 public:
  /// Outside training: nothing is random.
  StepNoise() = default;
  /// `place` tells those apart who draw in one step (StepDropout::noise). `seed` [1] int64: the bits of the number.
  StepNoise(double probability, uint64_t seed, uint64_t place, double done = 0);
  StepNoise(double probability, at::Tensor seed, uint64_t place, double done = 0);

  bool training() const { return training_; }
  /// Share of the training's steps that lie behind this one; 1 outside training. One that is captured has its own, and
  /// stands for others between the same turns of the encoding (Encoding::turns).
  double done() const { return done_; }
  /// Whether masks drop anything.
  bool drops() const { return training_ && probability_ > 0; }

  /// 16 random bits for each element, [row, column] int64 where the seed lies. Only in training.
  at::Tensor bits(int64_t rows, int64_t columns) const;

  /// [row, column] of 0 and 1 / (1 - probability); ones where nothing is dropped. `options`: of the result, on the
  /// device of the seed.
  at::Tensor mask(int64_t rows, int64_t columns, const at::TensorOptions& options) const;

 private:
  bool training_ = false;
  double probability_ = 0;
  uint64_t seed_ = 0;
  at::Tensor device_seed_;  ///< instead of seed_
  uint64_t place_ = 0;
  double done_ = 1;
};

/// dropout_bits (kernels/dropout.h) of every element by tensor operations: [row, column] int64 on any device.
at::Tensor noise_bits(uint64_t seed, int64_t rows, int64_t columns, at::Device device);

}  // namespace lengthwise
