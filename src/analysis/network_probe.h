#pragma once
/// Nonlinear probes: one hidden layer of rectified units, many probes trained side by side.
///
///     prediction = relu(x W1 + b1) W2 + b2        x and labels scaled by mean and deviation over the rows of the fit
///
/// Mean squared error, Adam, a rate that falls to 0. Of the states it passes, each probe keeps the one that errs least
/// on the rows that choose. The same seed gives the same probes.
#include <ATen/core/Tensor.h>

#include <functional>

namespace lengthwise {

/// Rows of features for every probe: [probe, row, feature] float, for indices [row] int64.
using FeatureRows = std::function<at::Tensor(const at::Tensor& rows)>;

struct NetworkOptions {
  int64_t hidden = 64;
  int64_t steps = 400;
  int64_t batch = 256;
  double rate = 3e-3;
  uint64_t seed = 1;
};

class NetworkProbes {
 public:
  /// `labels` [row] are those of all rows that `features` knows; `fit` and `choose` are indices of rows.
  NetworkProbes(const FeatureRows& features, const at::Tensor& labels, const at::Tensor& fit, const at::Tensor& choose,
                const NetworkOptions& options);

  /// [probe, row]
  at::Tensor predict(const at::Tensor& rows) const;

 private:
  struct Weights {
    at::Tensor w1, b1, w2, b2;
  };

  at::Tensor hidden(const at::Tensor& scaled, const Weights& weights) const;
  at::Tensor error(const at::Tensor& rows, const at::Tensor& scaled_labels, const Weights& weights) const;
  at::Tensor scaled(const at::Tensor& rows) const;

  FeatureRows features_;
  at::Tensor mean_, scale_;  ///< [probe, 1, feature]
  double label_mean_ = 0;
  double label_deviation_ = 1;
  Weights best_;
};

}  // namespace lengthwise
