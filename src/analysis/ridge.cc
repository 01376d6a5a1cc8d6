#include "analysis/ridge.h"

#include <ATen/ATen.h>

#include <cmath>

namespace lengthwise {
namespace {

constexpr int kSmallestPower = -9;
constexpr int kPenalties = 11;

}  // namespace

at::Tensor RidgeProbe::predict(const at::Tensor& features) const {
  return at::mv((features.to(at::kDouble) - mean) * scale, weights) + intercept;
}

RidgeProbe fit_ridge(const at::Tensor& features, const at::Tensor& labels, const at::Tensor& choose_features,
                     const at::Tensor& choose_labels) {
  const at::Tensor x = features.to(at::kDouble);
  const at::Tensor y = labels.to(at::kDouble);
  const auto rows = static_cast<double>(x.size(0));
  RidgeProbe probe;
  probe.mean = x.mean(0);
  const at::Tensor deviation = (x - probe.mean).square().mean(0).sqrt();
  // Rounding alone gives a constant feature a deviation.
  const at::Tensor varies = deviation > 1e-9 * (probe.mean.abs() + 1e-30);
  probe.scale = at::where(varies, deviation.reciprocal(), at::zeros_like(deviation));
  probe.intercept = y.mean().item<double>();

  const at::Tensor scaled = (x - probe.mean) * probe.scale;
  const at::Tensor covariance = at::mm(scaled.t(), scaled) / rows;
  const at::Tensor with_label = at::mv(scaled.t(), y - probe.intercept) / rows;
  const auto [values, vectors] = at::linalg_eigh(covariance);
  const at::Tensor along = at::mv(vectors.t(), with_label);

  const at::Tensor scaled_choose = (choose_features.to(at::kDouble) - probe.mean) * probe.scale;
  const at::Tensor wanted = choose_labels.to(at::kDouble) - probe.intercept;
  double least = INFINITY;
  for (int power = kPenalties + kSmallestPower - 1; power >= kSmallestPower; --power) {
    const double penalty = std::pow(10.0, power);
    const at::Tensor weights = at::mv(vectors, along / (values.clamp_min(0) + penalty));
    const double error = (at::mv(scaled_choose, weights) - wanted).square().mean().item<double>();
    if (!(error < least)) continue;
    least = error;
    probe.weights = weights;
    probe.penalty = penalty;
  }
  return probe;
}

}  // namespace lengthwise
