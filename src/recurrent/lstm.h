#pragma once
/// Long short-term memory (Hochreiter and Schmidhuber 1997, with the forget gate of Gers et al. 2000), one layer.
///
///     i, f, o = sigmoid(x W_in + h_{t-1} W + b),   g = tanh(...)           columns in the order i, f, g, o
///     c_t = f c_{t-1} + i g,   h_t = o tanh(c_t)
///
/// Its state is h, the output, and c behind it. The biases of the forget gate begin with 1, all others with 0.
#include "arena/parameters.h"
#include "recurrent/layer.h"

namespace lengthwise {

class LstmLayer : public RecurrentLayer {
 public:
  /// Adds PREFIXinput [input, 4 * unit], PREFIXrecurrent [unit, 4 * unit] and PREFIXbias [4 * unit].
  LstmLayer(Parameters& parameters, const std::string& prefix, int64_t inputs, int64_t units);

  int64_t units() const override { return units_; }
  int64_t state_size() const override { return 2 * units_; }
  at::Tensor run(const at::Tensor& x, const TimeOrder& order) const override;
  at::Tensor step(const at::Tensor& x, const at::Tensor& state, std::span<const int64_t> times) const override;

 private:
  int64_t units_;
  Parameter* input_;
  Parameter* recurrent_;
  Parameter* bias_;
};

}  // namespace lengthwise
