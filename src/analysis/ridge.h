#pragma once
/// Linear probes: ridge regression in closed form and double precision.
///
///     y ~ w . (x - mean) / deviation + b,      w = argmin  mean (y - prediction)^2 + penalty |w|^2
///
/// Features are scaled by their deviation over the rows of the fit, constant ones are left out. One decomposition of
/// their covariance gives the weights of all penalties; the one that errs least on other rows is taken.
#include <ATen/core/Tensor.h>

namespace lengthwise {

struct RidgeProbe {
  at::Tensor mean, scale;  ///< [feature] scale is 1 / deviation, 0 for a constant feature
  at::Tensor weights;      ///< [feature] of scaled features
  double intercept = 0;
  double penalty = 0;

  /// [row] of [row, feature], any floating type.
  at::Tensor predict(const at::Tensor& features) const;
};

/// `features` [row, feature], `labels` [row]; `choose_*` decide the penalty, 1e-9 to 10 in steps of 10.
RidgeProbe fit_ridge(const at::Tensor& features, const at::Tensor& labels, const at::Tensor& choose_features,
                     const at::Tensor& choose_labels);

}  // namespace lengthwise
