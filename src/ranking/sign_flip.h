#pragma once
/// A paired test between two encodings: a permutation test by flipping signs.
///
/// Given the differences of two encodings over queries, the hypothesis is that each could as well have had the other
/// sign. The p-value is the share of all sign patterns whose sum is at least as far from 0 as the observed one (two
/// sides). With n differences that are not 0 it cannot be below 2 / 2^n: three queries never reach 0.05, six do.
///
/// Where patterns are drawn and there are many differences, only the largest have signs of their own; the sum of the
/// others, each at most as large as any of these, is drawn as the normal variable that it very nearly is.
#include <cstdint>
#include <span>
#include <string>

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
inline constexpr size_t kOwnSigns = 512;          ///< differences with signs of their own in a drawn pattern

/// `rng` is used only when patterns are drawn.
SignFlipTest sign_flip_test(std::span<const double> differences, Rng rng);

/// The least that such a test can give when it is the best of so many and corrected for their number (Holm).
double smallest_corrected(const SignFlipTest& test, size_t pairs);

/// `0.0312`, or `< 0.0001`: no p-value is 0.
std::string p_text(double p);

}  // namespace lengthwise
