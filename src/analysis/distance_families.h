#pragma once
/// Which encoding's bias does a head's profile over distance look like?
///
/// A family is a set of functions of the distance d; within it, constants that enter linearly are fitted by least
/// squares and the others chosen from a grid.
///
/// | family | function | constants | as in |
/// |---|---|---:|---|
/// | constant | a | 1 | NoPE |
/// | linear | a - m d | 2 | ALiBi |
/// | log | a - r ln(1 + c d) | 3 | KERPLE, logarithmic |
/// | power | a - r d^p | 3 | KERPLE, power |
/// | buckets | one value for each of 8 logarithmic buckets | 8 | T5 |
/// | cosines | a + three cosines of free frequency | 7 | sinusoids |
/// | geometric | a + sum over planes of b cos(w d) + c sin(w d), w geometric, the slow ones left out | 5 | RoPE |
/// | square | a - b d^2 | 2 | a window |
/// | exponentials | a + b e^(-d/s) + c e^(-d/t) | 5 | RetNet |
/// | damped | a + e^(-d/s) (b cos w d + c sin w d) | 5 | a damped wave |
///
/// The rule: constants are fitted without every third distance, R2 is that of these (even distances alone, as others
/// take, cannot tell a frequency w from pi - w); BIC counts constants against the fit
/// on all distances. The winner has the lowest BIC; it is contested if another family's R2 is more than .02 higher or
/// its BIC less than 10 (2 ln of the distances, if that is less) away. The latter does not count against a constant,
/// which every family holds, and against a fit that is perfect.
#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <vector>

namespace lengthwise {

struct FamilyFit {
  std::string family;
  double held_out_r2 = 0;  ///< on the distances that were left out; 0 for a profile that is flat
  bool perfect = false;    ///< errs by less than changes a weight by a part in a thousand
  double bic = 0;
  std::vector<double> fitted;  ///< at every distance
};

struct ProfileFit {
  std::string family;
  bool contested = false;
  double held_out_r2 = 0;
  double slope = 0;               ///< m of the linear family, whether it wins or not
  std::vector<double> fitted;     ///< by the family, at every distance
  std::vector<FamilyFit> others;  ///< all families, by BIC
};

/// Profiles [profile, distance] double for d = first, first + 1, ...; at least 8 distances.
std::vector<ProfileFit> fit_families(const at::Tensor& profiles, int64_t first_distance);

}  // namespace lengthwise
