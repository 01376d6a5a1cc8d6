#pragma once
/// Piecewise linear functions of 1/t that come near t with fewer feed-forward units than positions.
///
/// Between knots at 1/a and 1/b the chord of 1/u is at most (sqrt b - sqrt a)^2 above it. Knots that are equally spaced
/// in sqrt t therefore share one error D^2, and moving the whole curve down by half of that leaves D^2 / 2:
///
///     K pieces up to n:   error <= ((sqrt n - 1) / K)^2 / 2,      K + 1 units (K - 1 knots, a constant, a slope).
///
/// An error below 1/2 tells every position from its neighbours, so sqrt n units do. A second layer can take off the
/// bumps that the chords leave, since they all have the same height: the first layer also writes a tent z that rises
/// from 0 at a knot to 1 where the bump is highest and falls back to 0, and the second subtracts D^2 (1 - (1 - z)^2) in
/// pieces.
#include <cstdint>
#include <vector>

#include "model/decoder.h"

namespace lengthwise {

/// Places t_0 = 1 < t_1 < ... and the values there; between them linear in 1/t.
struct PositionCurve {
  std::vector<double> places, values;

  double at(double t) const;
  int64_t pieces() const { return static_cast<int64_t>(places.size()) - 1; }
  int64_t units() const { return pieces() + 1; }
};

/// `pieces` of equal error up to `length`.
PositionCurve even_curve(int64_t length, int64_t pieces);

/// The largest error at t = 1 .. length.
double curve_error(const PositionCurve& curve, int64_t length);

/// The fewest units of one layer with an error of at most `error`: never more than `length`, which is exact.
int64_t units_needed(int64_t length, double error);

/// The longest sequence for which `units` have an error of at most `error`.
int64_t length_reached(int64_t units, double error);

struct TwoLayers {
  int64_t first = 0, second = 0;  ///< units of each
  double error = 0;
};
/// The fewest units over both layers with an error of at most `error` that were found.
TwoLayers two_layers_needed(int64_t length, double error);

/// Sets every parameter of a norm-free decoder so that its first layer writes the curve (theory/position_code.h).
void write_curve(Decoder& decoder, int64_t first_token, const PositionCurve& curve);

}  // namespace lengthwise
