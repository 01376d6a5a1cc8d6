#pragma once
/// A recurrent layer: what it keeps of a sequence is a state of fixed size, made anew with every token.
#include <ATen/core/Tensor.h>

#include <cstdint>
#include <span>

#include "recurrent/time_order.h"

namespace lengthwise {

class RecurrentLayer {
 public:
  virtual ~RecurrentLayer() = default;

  virtual int64_t units() const = 0;                      ///< numbers that it gives for a token
  virtual int64_t state_size() const { return units(); }  ///< numbers that it keeps; the first units() are the output

  /// States [token, state] behind every token of x [token, input], both in the order's rows; every sequence begins with
  /// a state of zeros at time 0. Differentiable, with a backward pass of its own: weight gradients of all times are one
  /// product each.
  virtual at::Tensor run(const at::Tensor& x, const TimeOrder& order) const = 0;

  /// One more token of some sequences: states [row, state] after x [row, input] and `state`, at these times [row].
  virtual at::Tensor step(const at::Tensor& x, const at::Tensor& state, std::span<const int64_t> times) const = 0;
};

}  // namespace lengthwise
