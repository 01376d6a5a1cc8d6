#pragma once
/// The clockwork recurrent network (Koutnik, Greff, Gomez and Schmidhuber, ICML 2014, arXiv 1402.3511), one layer.
///
/// The units are cut into modules of equal size, module i with the period T_i, T_1 < T_2 < ... At time t = 0, 1, ...
/// a module is active when T_i divides t, and only then computed:
///
///     h_t[i] = tanh(x_t W_in[i] + sum over j with T_j >= T_i of h_{t-1}[j] W[j, i] + b[i])     active
///     h_t[i] = h_{t-1}[i]                                                                       not active
///
/// Slow modules tell fast ones, never the other way: with modules in the order of their periods the recurrent weights
/// are block-triangular, and only those blocks exist. The gradient of a module that rests goes on to t - 1 unchanged.
/// One module of period 1 is the plain recurrent network.
///
/// Multiplications of a sequence of n tokens: for every module ceil(n / T_i) times (inputs + units of this module and
/// of slower ones) times (units of this module); at time 0 there is no state to multiply.
#include <vector>

#include "arena/parameters.h"
#include "recurrent/layer.h"

namespace lengthwise {

class ClockworkLayer : public RecurrentLayer {
 public:
  /// Adds PREFIXinput [input, unit], PREFIXbias [unit] and PREFIXrecurrent.I [units from module I on, units of it] to
  /// the parameters. `periods` rise, and their number divides `units`.
  ClockworkLayer(Parameters& parameters, const std::string& prefix, int64_t inputs, int64_t units,
                 std::vector<int64_t> periods);

  int64_t units() const override { return units_; }
  at::Tensor run(const at::Tensor& x, const TimeOrder& order) const override;
  at::Tensor step(const at::Tensor& x, const at::Tensor& state, std::span<const int64_t> times) const override;

 private:
  int64_t units_;
  std::vector<int64_t> periods_;
  Parameter* input_;
  Parameter* bias_;
  std::vector<Parameter*> recurrent_;  ///< by module
};

}  // namespace lengthwise
