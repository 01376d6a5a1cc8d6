#pragma once
/// A paired test between two encodings: a permutation test by flipping signs.
///
/// Given the differences of two encodings over queries, the hypothesis is that each could as well have had the other
/// sign. The p-value is the share of all sign patterns whose sum is at least as far from 0 as the observed one (two
/// sides). With n differences that are not 0 it cannot be below 2 / 2^n: three queries never reach 0.05, six do.
#include <cstdint>
#include <span>

#include "core/rng.h"

namespace lengthwise {

struct SignFlipTest {
  int64_t queries = 0;
  int64_t nonzero = 0;  ///< queries in which the two differ
  bool exact = true;    ///< every pattern was counted; otherwise kSignFlipDraws were drawn
  double p = 1;
  double smallest_p = 1;  ///< the least that so many queries could give
};

inline constexpr int64_t kExactSignFlips = 20;    ///< up to so many nonzero differences the test is exact
inline constexpr int64_t kSignFlipDraws = 20000;  ///< beyond that: (1 + hits) / (1 + draws)

/// `rng` is used only when patterns are drawn.
SignFlipTest sign_flip_test(std::span<const double> differences, Rng rng);

}  // namespace lengthwise
