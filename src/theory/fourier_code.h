#pragma once
/// Positions as angles: cos(w t) and sin(w t) in pairs of dims, written by the first layer (position_code.h).
///
/// Their squares add up to the same for every t, so RMSNorm divides all tokens alike, and a head of a later layer can
/// have any score that is a sum of cosines and sines of the distance,
///
///     S_ti = sum_c A_c cos(w_c (t - i)) + B_c sin(w_c (t - i)),
///
/// which is what RoPE's rotations give a head of any layer, but with frequencies of one's own choice.
#include <cstdint>
#include <vector>

#include "model/decoder.h"

namespace lengthwise {

struct FourierCode {
  std::vector<double> frequencies;  ///< w_c, one per pair of dims of a head
};

/// Frequencies whose mean cosine is as far below 1 as possible at every distance 1 .. length - 1: the best of some
/// random draws. A head that adds them with equal weight has one narrow peak and no second one.
FourierCode sharp_code(int64_t planes, int64_t length);

/// (1/P) sum_c cos(w_c d).
double mean_cosine(const FourierCode& code, int64_t distance);

/// Sets every parameter so that the first layer writes the code for t = 1 .. length (position_code.h).
void write_code(Decoder& decoder, const FourierCode& code, int64_t length);

/// Lets a head of a later layer score by distance. `cosines` and `sines` are A_c and B_c. Queries and keys get the same
/// norm at every position; it is returned.
double attend_by_distance(Decoder& decoder, int64_t layer, int64_t head, const FourierCode& code,
                          const std::vector<double>& cosines, const std::vector<double>& sines);

}  // namespace lengthwise
