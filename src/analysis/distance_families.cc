#include "analysis/distance_families.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "analysis/side_by_side.h"
#include "core/error.h"

namespace lengthwise {
namespace {

// Differences of scores below this change no weight by a part in a thousand.
constexpr double kNegligible = 1e-3;
constexpr double kClose = 0.02;
/// A difference of BIC below this is a tie: 10, and less where short profiles leave no room for that much.
double tie(double points) {
  return std::min(10.0, 2 * std::log(points));
}

using Design = std::vector<at::Tensor>;  // columns [distance]

struct Family {
  const char* name;
  int64_t constants;
  std::vector<Design> (*designs)(const at::Tensor& d);
};

/// `count` numbers from low to high in equal ratios.
std::vector<double> ratios(double low, double high, int64_t count) {
  std::vector<double> list;
  for (int64_t k = 0; k < count; ++k)
    list.push_back(low * std::pow(high / low, static_cast<double>(k) / static_cast<double>(count - 1)));
  return list;
}

at::Tensor ones(const at::Tensor& d) {
  return at::ones_like(d);
}

double longest(const at::Tensor& d) {
  return d.max().item<double>();
}

std::vector<Design> constant(const at::Tensor& d) {
  return {{ones(d)}};
}

std::vector<Design> linear(const at::Tensor& d) {
  return {{ones(d), -d}};
}

std::vector<Design> logarithmic(const at::Tensor& d) {
  std::vector<Design> list;
  for (const double c : ratios(0.05, 100, 40)) list.push_back({ones(d), -at::log1p(c * d)});
  return list;
}

std::vector<Design> power(const at::Tensor& d) {
  std::vector<Design> list;
  for (const double p : ratios(0.1, 1.9, 40)) {
    if (std::abs(p - 1) > 0.05) list.push_back({ones(d), -d.pow(p)});
  }
  return list;
}

std::vector<Design> buckets(const at::Tensor& d) {
  constexpr int64_t kBuckets = 8;
  const at::Tensor place =
      (at::log1p(d) / std::log1p(longest(d)) * kBuckets).floor().clamp(0, static_cast<double>(kBuckets - 1));
  Design columns;
  for (int64_t bucket = 0; bucket < kBuckets; ++bucket) {
    const at::Tensor column = (place == bucket).to(at::kDouble);
    if (column.sum().item<double>() > 1) columns.push_back(column);
  }
  return {columns};
}

std::vector<Design> geometric(const at::Tensor& d) {
  constexpr int64_t kPlanes = 16;
  std::vector<Design> list;
  for (const double base : ratios(100, 1e6, 9)) {
    for (const int64_t planes : {4, 8, 12, 16}) {
      at::Tensor cosines = at::zeros_like(d);
      at::Tensor sines = at::zeros_like(d);
      for (int64_t plane = 0; plane < planes; ++plane) {
        const double w = std::pow(base, -static_cast<double>(plane) / static_cast<double>(kPlanes));
        cosines = cosines + at::cos(w * d);
        sines = sines + at::sin(w * d);
      }
      list.push_back({ones(d), cosines, sines});
    }
  }
  return list;
}

std::vector<Design> square(const at::Tensor& d) {
  return {{ones(d), -d.square()}};
}

std::vector<Design> exponentials(const at::Tensor& d) {
  std::vector<Design> list;
  const std::vector<double> times = ratios(0.5, 2 * longest(d), 12);
  for (size_t s = 0; s < times.size(); ++s) {
    for (size_t t = 0; t < s; ++t) list.push_back({ones(d), at::exp(-d / times[s]), at::exp(-d / times[t])});
  }
  return list;
}

std::vector<Design> damped(const at::Tensor& d) {
  std::vector<Design> list;
  for (const double time : ratios(2, 2 * longest(d), 8)) {
    // At least one full wave within the profile, or it is no wave.
    for (const double w : ratios(2 * std::numbers::pi / longest(d), std::numbers::pi, 192))
      list.push_back({ones(d), at::exp(-d / time) * at::cos(w * d), at::exp(-d / time) * at::sin(w * d)});
  }
  return list;
}

constexpr Family kFamilies[] = {
    {"constant", 1, constant}, {"linear", 2, linear}, {"square", 2, square},       {"log", 3, logarithmic},
    {"power", 3, power},       {"damped", 5, damped}, {"geometric", 5, geometric}, {"exponentials", 5, exponentials},
    {"buckets", 8, buckets},
};
constexpr int64_t kCosines = 3;
constexpr int64_t kCosineConstants = 1 + 2 * kCosines;

/// Coefficients [column, profile] of the columns on some distances.
at::Tensor solve(const at::Tensor& columns, const at::Tensor& profiles) {
  const at::Tensor norm = columns.norm(2, 0).clamp_min(1e-300);
  const at::Tensor scaled = columns / norm;
  // A trace of ridge: columns may coincide on few distances.
  const at::Tensor gram = at::matmul(scaled.t(), scaled) + 1e-12 * at::eye(columns.size(1), columns.options());
  return at::linalg_solve(gram, at::matmul(scaled.t(), profiles)) / norm.unsqueeze(1);
}

struct Chosen {
  at::Tensor residual;  // [distance, profile], fitted on all
  at::Tensor held_out;  // the same, fitted without every third distance
};

class Fitter {
 public:
  /// `profiles` [distance, profile].
  Fitter(const at::Tensor& profiles, const at::Tensor& distance) : profiles_(profiles), distance_(distance) {
    const at::Tensor place = at::arange(distance.size(0), at::TensorOptions(at::kLong));
    seen_ = place.index({place.remainder(3) != 2});
    unseen_ = place.index({place.remainder(3) == 2});
  }

  /// The best design of a family for every profile.
  Chosen best(const std::vector<Design>& designs) const {
    Chosen best;
    at::Tensor least, least_seen;
    for (const Design& design : designs) {
      const at::Tensor columns = at::stack(design, 1);
      const at::Tensor part = columns.index_select(0, seen_);
      const at::Tensor all = profiles_ - at::matmul(columns, solve(columns, profiles_));
      const at::Tensor held = profiles_ - at::matmul(columns, solve(part, profiles_.index_select(0, seen_)));
      take(all, all.square().sum(0), best.residual, least);
      take(held, held.index_select(0, seen_).square().sum(0), best.held_out, least_seen);
    }
    return best;
  }

  /// Cosines are taken one by one, each where it takes away most of what the ones before left.
  Chosen cosines() const {
    const int64_t count = profiles_.size(1);
    std::vector<at::Tensor> all(static_cast<size_t>(count)), held(static_cast<size_t>(count));
    const at::Tensor every = at::arange(distance_.size(0), at::TensorOptions(at::kLong));
    // Many operations on few numbers: profiles side by side, not operations in pieces.
    side_by_side(count, [&](int64_t profile) {
      const at::Tensor one = profiles_.narrow(1, profile, 1);
      all[static_cast<size_t>(profile)] = without_waves(one, every);
      held[static_cast<size_t>(profile)] = without_waves(one, seen_);
    });
    return {at::cat(all, 1), at::cat(held, 1)};
  }

  /// Adds a family's fit to every profile.
  void add(const char* name, int64_t constants, const Chosen& chosen, std::vector<ProfileFit>& fits) const {
    const auto points = static_cast<double>(distance_.size(0));
    const at::Tensor unseen = profiles_.index_select(0, unseen_);
    const at::Tensor spread = (unseen - unseen.mean(0, true)).square().sum(0);
    const at::Tensor left = chosen.held_out.index_select(0, unseen_).square().sum(0);
    const at::Tensor squares = chosen.residual.square().sum(0);
    const at::Tensor fitted = (profiles_ - chosen.residual).t().contiguous();
    for (size_t i = 0; i < fits.size(); ++i) {
      const auto place = static_cast<int64_t>(i);
      const double* curve = fitted[place].const_data_ptr<double>();
      const double whole = spread[place].item<double>();
      const bool flat = whole < kNegligible * kNegligible * points;
      const double mean = std::max(squares[place].item<double>() / points, kNegligible * kNegligible);
      fits[i].others.push_back({.family = name,
                                .held_out_r2 = flat ? 0 : 1 - left[place].item<double>() / whole,
                                .perfect = mean <= kNegligible * kNegligible,
                                .bic = points * std::log(mean) + static_cast<double>(constants) * std::log(points),
                                .fitted = {curve, curve + fitted.size(1)}});
    }
  }

 private:
  at::Tensor waves(const at::Tensor& w) const { return at::cos(distance_.unsqueeze(1) * w.unsqueeze(0)); }

  /// What the best constant and kCosines waves, fitted on some rows, leave of a profile [distance, 1].
  at::Tensor without_waves(const at::Tensor& profile, const at::Tensor& rows) const {
    const at::Tensor seen = profile.index_select(0, rows);
    const auto steps = static_cast<double>(static_cast<int64_t>(2 * longest(distance_)));
    // At least one full wave, and steps that a profile of this length can tell.
    const at::Tensor grid = at::arange(4.0, steps + 1, distance_.options()) * (std::numbers::pi / steps);
    at::Tensor columns = ones(distance_).unsqueeze(1);
    at::Tensor residual = seen - seen.mean();
    for (int64_t wave = 0; wave < kCosines; ++wave) {
      const at::Tensor fitted = columns.index_select(0, rows);
      const auto best_of = [&](const at::Tensor& w) {
        const at::Tensor candidates = waves(w).index_select(0, rows);
        const at::Tensor fresh = candidates - at::matmul(fitted, solve(fitted, candidates));
        const at::Tensor gain =
            at::matmul(fresh.t(), residual).squeeze(1).square() / fresh.square().sum(0).clamp_min(1e-9);
        return w[gain.argmax().item<int64_t>()].item<double>();
      };
      const double near = best_of(grid);
      const at::Tensor around = at::linspace(-1, 1, 41, distance_.options()) * (std::numbers::pi / steps);
      const double best = best_of(near + around);
      columns = at::cat({columns, waves(at::full({1}, best, distance_.options()))}, 1);
      const at::Tensor with = columns.index_select(0, rows);
      residual = seen - at::matmul(with, solve(with, seen));
    }
    return profile - at::matmul(columns, solve(columns.index_select(0, rows), seen));
  }

  static void take(const at::Tensor& candidate, const at::Tensor& squares, at::Tensor& best, at::Tensor& least) {
    if (!best.defined()) {
      best = candidate;
      least = squares;
      return;
    }
    best = at::where((squares < least).unsqueeze(0), candidate, best);
    least = at::minimum(squares, least);
  }

  at::Tensor profiles_, distance_, seen_, unseen_;
};

void decide(ProfileFit& fit, double points) {
  std::stable_sort(fit.others.begin(), fit.others.end(),
                   [](const FamilyFit& a, const FamilyFit& b) { return a.bic < b.bic; });
  const FamilyFit& winner = fit.others.front();
  fit.family = winner.family;
  fit.held_out_r2 = winner.held_out_r2;
  fit.fitted = winner.fitted;
  // Every family holds a constant, and more constants than a perfect fit needs are no rival to it.
  const bool enough = winner.family == "constant" || winner.perfect;
  for (const FamilyFit& other : fit.others) {
    if (&other == &winner) continue;
    if (other.held_out_r2 > winner.held_out_r2 + kClose) fit.contested = true;
    if (!enough && other.bic < winner.bic + tie(points)) fit.contested = true;
  }
}

}  // namespace

std::vector<ProfileFit> fit_families(const at::Tensor& profiles, int64_t first_distance) {
  const int64_t distances = profiles.size(1);
  LENGTHWISE_CHECK(distances >= 8, "{} distances are too few to tell families apart", distances);
  const at::Tensor d = at::arange(first_distance, first_distance + distances, at::TensorOptions(at::kDouble));
  const Fitter fitter(profiles.t().contiguous(), d);
  std::vector<ProfileFit> fits(static_cast<size_t>(profiles.size(0)));
  for (const Family& family : kFamilies)
    fitter.add(family.name, family.constants, fitter.best(family.designs(d)), fits);
  fitter.add("cosines", kCosineConstants, fitter.cosines(), fits);
  const at::Tensor slopes = solve(at::stack(Design{ones(d), -d}, 1), profiles.t())[1].contiguous();
  for (size_t i = 0; i < fits.size(); ++i) {
    fits[i].slope = slopes[static_cast<int64_t>(i)].item<double>();
    decide(fits[i], static_cast<double>(distances));
  }
  return fits;
}

}  // namespace lengthwise
