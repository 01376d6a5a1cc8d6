/// A head of the second layer that sees a window of recent tokens: a smooth step in the distance,
///
///     f(d) = -B / 2 (1 + tanh((d - w) / s)),
///
/// as nearly as the sums of cosines and sines of a head's planes come to it (least squares over 0 .. n - 1).
#include <ATen/ATen.h>

#include <cmath>
#include <numbers>

#include "model/inspect.h"
#include "theory/construction.h"
#include "theory/fourier_code.h"

namespace lengthwise {
namespace {

constexpr double kDepth = 24;  // B: how much less a score is outside of the window

/// Slow waves: their longest period is longer than the sequence, so that the step is the only one.
FourierCode slow_code(int64_t planes, int64_t length) {
  FourierCode code;
  for (int64_t plane = 0; plane < planes; ++plane)
    code.frequencies.push_back(std::numbers::pi * static_cast<double>(plane + 1) /
                               (1.25 * static_cast<double>(length)));
  return code;
}

/// [distance, 2 * plane]: cosines, then sines.
at::Tensor waves(const FourierCode& code, int64_t length) {
  const auto options = at::TensorOptions(at::kDouble);
  const at::Tensor angle =
      at::arange(length, options).unsqueeze(1) * at::tensor(code.frequencies, options).unsqueeze(0);
  return at::cat({at::cos(angle), at::sin(angle)}, 1);
}

/// Coefficients of the waves that come nearest to f up to a constant, which a softmax does not see.
at::Tensor fitted(const at::Tensor& basis, const at::Tensor& f) {
  const at::Tensor whole = at::cat({basis, at::ones({basis.size(0), 1}, basis.options())}, 1);
  // Waves on a part of their period are nearly dependent; a little ridge keeps queries small.
  const at::Tensor ridge = 1e-6 * static_cast<double>(basis.size(0)) * at::eye(whole.size(1), basis.options());
  const at::Tensor solved =
      at::linalg_solve(at::matmul(whole.t(), whole) + ridge, at::matmul(whole.t(), f.unsqueeze(1))).squeeze(1);
  return solved.narrow(0, 0, basis.size(1));
}

struct Window {
  double whole = 0;    ///< distances that are seen, the smooth edge included
  double norm = 0;     ///< of queries and keys
  at::Tensor profile;  ///< [distance]: the scores
};

Window set_window(Decoder& decoder, int64_t length) {
  const int64_t planes = decoder.config().head_dim / 2;
  const double window = std::max(1.0, static_cast<double>(length) / 8);
  const double edge = 1.5 * static_cast<double>(length) / static_cast<double>(planes);
  const FourierCode code = slow_code(planes, length);
  const at::Tensor basis = waves(code, length);
  const at::Tensor distance = at::arange(length, at::TensorOptions(at::kDouble));
  const at::Tensor coefficients =
      fitted(basis, -kDepth / 2 * (1 + at::tanh((distance - window - edge) / edge))).contiguous();
  write_code(decoder, code, length);
  const auto* first = coefficients.const_data_ptr<double>();
  const double norm =
      attend_by_distance(decoder, 1, 0, code, {first, first + planes}, {first + planes, first + 2 * planes});
  return {window + 2 * edge, norm, at::matmul(basis, coefficients)};
}

void set_window_head(Decoder& decoder, const TheoryOptions& options) {
  set_window(decoder, options.length);
}

std::vector<Finding> measure_window_head(const TheoryOptions& options) {
  std::vector<Finding> findings;
  for (const std::string& name : options.decoders) {
    for (const std::string& precision : options.precisions) {
      if (!has_room(name, options.length)) continue;
      const auto decoder = make_theory_decoder({.decoder = name, .precision = precision}, options.length);
      const Window window = set_window(*decoder, options.length);
      Finding finding{.construction = "window-head", .decoder = name, .length = options.length, .precision = precision};
      double inside = 1;
      Inspection inspection;
      inspection.layers = 2;
      inspection.attention = [&](const AttentionRows& rows) {
        if (rows.layer != 1) return;
        const at::Tensor apart = distances_apart(rows.first_query, rows.q.size(1), rows.k.size(1));
        const at::Tensor wanted = at::softmax(window.profile.index({apart.clamp_min(0).to(at::kLong)})
                                                  .masked_fill(apart < 0, -std::numeric_limits<double>::infinity()),
                                              -1);
        const at::Tensor weights = rows.weights[0].to(at::kDouble);
        finding.max_error = std::max(finding.max_error, (weights - wanted).abs().max().item<double>());
        const at::Tensor near = weights.masked_fill(apart > window.whole, 0).sum(-1);
        inside = std::min(inside, near.min().item<double>());
      };
      const std::vector<int64_t> tokens = random_sequence(options.length, decoder->config().vocab_rows, 7);
      inspect(*decoder, single_sequence(tokens), inspection, arithmetic_of_theory(precision));
      finding.values = {{"window", window.whole}, {"least_inside", inside}, {"query_norm", window.norm}};
      finding.as_predicted = finding.max_error <= expected_error(precision, options.length);
      findings.push_back(finding);
    }
  }
  return findings;
}

}  // namespace

extern const Construction kWindowHead = {"window-head",
                                         "a head of the second layer attends to a window of recent tokens",
                                         measure_window_head, set_window_head};

}  // namespace lengthwise
