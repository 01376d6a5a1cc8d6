/// How many feed-forward units it takes to turn 1/t into t (theory/position_curve.h), and what those of `base` buy.
#include <ATen/ATen.h>

#include <cmath>

#include "model/inspect.h"
#include "theory/construction.h"
#include "theory/position_code.h"
#include "theory/position_curve.h"

namespace lengthwise {
namespace {

constexpr int64_t kBaseUnits = 3072;

/// The error of the curve as a decoder computes it.
double built_error(const PositionCurve& curve, int64_t length) {
  const auto decoder = make_theory_decoder({.decoder = "norm-free", .units = curve.units()}, length);
  write_curve(*decoder, kFirstToken, curve);
  double error = 0;
  Inspection inspection;
  inspection.layers = 1;
  inspection.layer = [&](const LayerView& view) {
    const at::Tensor t = at::arange(1, length + 1, at::TensorOptions(at::kDouble));
    error = (view.after.select(1, code_dims::position) - t).abs().max().item<double>();
  };
  inspect(*decoder, single_sequence(random_sequence(length, decoder->config().vocab_rows, 8)), inspection);
  return error;
}

}  // namespace

std::vector<Finding> measure_units(const TheoryOptions&) {
  std::vector<Finding> findings;
  for (const int64_t length : {int64_t{64}, int64_t{512}, int64_t{3000}, int64_t{65536}, int64_t{1000000}}) {
    for (const double error : {0.49, 0.1, 0.01}) {
      const int64_t units = units_needed(length, error);
      const PositionCurve curve = even_curve(length, std::max<int64_t>(1, units - 1));
      const double worked_out = units == length ? 0 : curve_error(curve, length);
      const TwoLayers two = two_layers_needed(length, error);
      Finding finding{.construction = "units",
                      .decoder = "norm-free",
                      .length = length,
                      .precision = "fp64",
                      .max_error = units < length && length <= 3000 ? built_error(curve, length) : worked_out};
      finding.values = {{"wanted_error", error},
                        {"units", static_cast<double>(units)},
                        {"exact_units", static_cast<double>(length)},
                        {"two_layer_units", static_cast<double>(two.first + two.second)}};
      finding.as_predicted = finding.max_error <= error * (1 + 1e-9) && two.error <= error * (1 + 1e-9) &&
                             std::abs(finding.max_error - worked_out) < 1e-9;
      findings.push_back(finding);
    }
  }
  for (const double error : {0.49, 0.1, 0.01, 0.001}) {
    const int64_t length = length_reached(kBaseUnits, error);
    Finding finding{.construction = "units", .decoder = "base's 3,072 units", .length = length, .precision = "fp64"};
    finding.max_error = length > 20000000 ? error : curve_error(even_curve(length, kBaseUnits - 1), length);
    finding.values = {{"wanted_error", error}, {"units", static_cast<double>(kBaseUnits)}};
    finding.as_predicted = finding.max_error <= error * (1 + 1e-9);
    findings.push_back(finding);
  }
  return findings;
}

}  // namespace lengthwise
