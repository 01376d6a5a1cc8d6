#pragma once
/// The straight pieces of a ramp network (kernels/ramp_network.h) and the loops over them, without torch. Private
/// to kernels/ramp_network.cc.
///
/// Piece p of `knots` + 1 lies between knot p - 1 and knot p; x belongs to as many as there are knots below it. A unit
/// with in_k > 0 is active in the pieces behind its knot, one with in_k < 0 in those before, one with in_k = 0 in all
/// or none.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace lengthwise {

class RampPieces {
 public:
  /// `out` is [unit, result].
  template <class T>
  RampPieces(std::span<const T> in, std::span<const T> bias, std::span<const T> out)
      : in_(in.begin(), in.end()), bias_(bias.begin(), bias.end()), out_(out.begin(), out.end()) {
    for (size_t k = 0; k < in_.size(); ++k) {
      if (const double knot = knot_of(k); !std::isnan(knot)) knots_.push_back(knot);
    }
    std::ranges::sort(knots_);
  }

  size_t units() const { return in_.size(); }
  size_t results() const { return out_.size() / in_.size(); }
  size_t count() const { return knots_.size() + 1; }
  const std::vector<double>& knots() const { return knots_; }
  double in(size_t k) const { return in_[k]; }
  double bias(size_t k) const { return bias_[k]; }
  double out(size_t k, size_t result) const { return out_[k * results() + result]; }

  bool active(size_t k, size_t piece) const {
    const double knot = knot_of(k);
    if (std::isnan(knot)) return in_[k] != 0 || bias_[k] > 0;
    return in_[k] > 0 ? piece > 0 && knot <= knots_[piece - 1] : piece < knots_.size() && knot >= knots_[piece];
  }

 private:
  /// Not a number where there is none, or where the weights are none: those of a run that failed stay seen.
  double knot_of(size_t k) const { return in_[k] == 0 ? std::numeric_limits<double>::quiet_NaN() : -bias_[k] / in_[k]; }

  std::vector<double> in_, bias_, out_, knots_;
};

/// y = slope x + offset in every piece.
template <class T>
struct RampLines {
  explicit RampLines(const RampPieces& pieces);

  std::vector<T> knots;
  size_t results, count;
  std::vector<T> slope, offset;  ///< [result, piece]
};

/// A query and its keys (kernels/ramp_network.h).
template <class T>
struct ShareRow {
  const T* scale;
  int64_t query;
  const int64_t* keys;
  int64_t count;
  T reach;
};

/// y of a row: [result, key], results `apart` numbers from each other.
template <class T>
void ramp_forward(const RampLines<T>& lines, const ShareRow<T>& row, int64_t apart, T* y);

/// What d_y and x d_y add up to in every piece, [piece, result], and the gradient of the scale, [distance].
struct RampSums {
  RampSums(const RampPieces& pieces, size_t distances)
      : plain(pieces.count() * pieces.results()), times_x(plain.size()), scale(distances) {}
  void add(const RampSums& other) {
    for (size_t i = 0; i < plain.size(); ++i) plain[i] += other.plain[i];
    for (size_t i = 0; i < times_x.size(); ++i) times_x[i] += other.times_x[i];
    for (size_t i = 0; i < scale.size(); ++i) scale[i] += other.scale[i];
  }
  std::vector<double> plain, times_x, scale;
};

/// The gradient of a row's reach; adds up what else its d_y, laid out as y, decide.
template <class T>
T ramp_backward(const RampLines<T>& lines, const ShareRow<T>& row, const T* d_y, int64_t apart, RampSums& sums);

struct RampGradients {
  std::vector<double> in, bias, out;
};

RampGradients ramp_gradients(const RampPieces& pieces, const RampSums& sums);

}  // namespace lengthwise
