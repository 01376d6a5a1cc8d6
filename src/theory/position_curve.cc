#include "theory/position_curve.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "theory/position_code.h"

namespace lengthwise {
namespace {

/// Chords between knots, the tent over each, and what a second layer makes of both.
struct CorrectedCurve {
  PositionCurve chords;
  int64_t second_pieces = 1;

  double error_at(double t) const {
    const auto upper = std::upper_bound(chords.places.begin() + 1, chords.places.end() - 1, t);
    const double b = *upper;
    const double a = *(upper - 1);
    const double chord = a + b - a * b / t;
    const double height = std::pow(std::sqrt(b) - std::sqrt(a), 2);
    const double top = std::sqrt(a * b);
    // Linear in 1/t on both sides of the bump's top.
    const double tent = t <= top ? (1 / a - 1 / t) / (1 / a - 1 / top) : (1 / t - 1 / b) / (1 / top - 1 / b);
    return chord - height * parabola(tent) - t;
  }

  /// 1 - (1 - z)^2 in equal pieces, raised by half of their largest error.
  double parabola(double z) const {
    const auto pieces = static_cast<double>(second_pieces);
    const double low = std::min(std::floor(z * pieces), pieces - 1) / pieces;
    const double high = low + 1 / pieces;
    const auto exact = [](double x) { return 1 - (1 - x) * (1 - x); };
    const double share = (z - low) * pieces;
    return (1 - share) * exact(low) + share * exact(high) + 1 / (8 * pieces * pieces);
  }
};

PositionCurve chords_of(int64_t length, int64_t pieces) {
  PositionCurve curve;
  const double root = std::sqrt(static_cast<double>(length));
  for (int64_t k = 0; k <= pieces; ++k) {
    const double place = std::pow(1 + (root - 1) * static_cast<double>(k) / static_cast<double>(pieces), 2);
    curve.places.push_back(place);
    curve.values.push_back(place);
  }
  return curve;
}

double corrected_error(int64_t length, int64_t first_pieces, int64_t second_pieces, double enough) {
  const CorrectedCurve curve{chords_of(length, first_pieces), second_pieces};
  double largest = 0;
  for (int64_t t = 1; t <= length && largest <= enough; ++t)
    largest = std::max(largest, std::abs(curve.error_at(static_cast<double>(t))));
  return largest;
}

}  // namespace

double PositionCurve::at(double t) const {
  const auto upper = std::upper_bound(places.begin() + 1, places.end() - 1, t);
  const auto k = static_cast<size_t>(upper - places.begin());
  const double share = (1 / t - 1 / places[k - 1]) / (1 / places[k] - 1 / places[k - 1]);
  return values[k - 1] + share * (values[k] - values[k - 1]);
}

PositionCurve even_curve(int64_t length, int64_t pieces) {
  PositionCurve curve = chords_of(length, pieces);
  const double step = (std::sqrt(static_cast<double>(length)) - 1) / static_cast<double>(pieces);
  for (double& value : curve.values) value -= step * step / 2;
  return curve;
}

double curve_error(const PositionCurve& curve, int64_t length) {
  double largest = 0;
  for (int64_t t = 1; t <= length; ++t)
    largest = std::max(largest, std::abs(curve.at(static_cast<double>(t)) - static_cast<double>(t)));
  return largest;
}

int64_t units_needed(int64_t length, double error) {
  const double pieces = (std::sqrt(static_cast<double>(length)) - 1) / std::sqrt(2 * error);
  return std::min(length, std::max<int64_t>(1, static_cast<int64_t>(std::ceil(pieces))) + 1);
}

int64_t length_reached(int64_t units, double error) {
  const double root = 1 + static_cast<double>(units - 1) * std::sqrt(2 * error);
  return std::max(units, static_cast<int64_t>(root * root));
}

TwoLayers two_layers_needed(int64_t length, double error) {
  TwoLayers best{.first = units_needed(length, error), .second = 0, .error = error};
  for (int64_t second = 1; second < best.first + best.second; second *= 2) {
    // Fewer pieces have a larger error, but for where the integers happen to lie.
    int64_t low = 0;
    int64_t high = best.first;
    while (high - low > 1) {
      const int64_t middle = (low + high) / 2;
      (corrected_error(length, middle, second, error) <= error ? high : low) = middle;
    }
    const double found = corrected_error(length, high, second, 2 * error);
    // Knots and tops, a constant and a slope; the second layer's pieces and its constant.
    const TwoLayers candidate{.first = 2 * high + 1, .second = second + 1, .error = found};
    if (found <= error && candidate.first + candidate.second < best.first + best.second) best = candidate;
  }
  return best;
}

void write_curve(Decoder& decoder, int64_t first_token, const PositionCurve& curve) {
  LENGTHWISE_CHECK(!decoder.normalizes(), "curves are for decoders without norms");
  LENGTHWISE_CHECK(decoder.config().ff_width >= curve.units(), "{} units are needed", curve.units());
  write_positions(decoder, first_token, {{code_dims::position, {1}}});
  const at::NoGradGuard no_grad;
  const LayerParameters& layer = decoder.layer(0);
  at::Tensor in = at::zeros(layer.ff_in->shape, at::TensorOptions(at::kDouble));
  at::Tensor out = at::zeros(layer.ff_out->shape, at::TensorOptions(at::kDouble));
  // From the right end, 1/t = 1: f = value there + slope (1/t - 1), and each knot changes the slope.
  const auto slope = [&](size_t k) {
    return (curve.values[k + 1] - curve.values[k]) / (1 / curve.places[k + 1] - 1 / curve.places[k]);
  };
  const auto units = static_cast<size_t>(curve.units());
  for (size_t k = 1; k + 1 < curve.places.size(); ++k) {
    const auto unit = static_cast<int64_t>(k - 1);
    in[code_dims::one][unit] = 1 / curve.places[k];
    in[code_dims::position][unit] = -1;
    out[unit][code_dims::position] = slope(k - 1) - slope(k);
  }
  const auto constant = static_cast<int64_t>(units - 2);
  in[code_dims::one][constant] = 1;
  in[code_dims::position][constant + 1] = 1;
  out[constant][code_dims::position] = curve.values[0] - slope(0);
  out[constant + 1][code_dims::position] = slope(0) - 1;  // takes away the 1/t that stands there
  layer.ff_in->value.copy_(in);
  layer.ff_out->value.copy_(out);
}

}  // namespace lengthwise
