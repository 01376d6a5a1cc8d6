#pragma once
/// Weights that let the first layer of a decoder without positional encoding write any functions of the position into
/// its residual stream (Theorem 1 of Kazemnejad et al. 2023, made explicit and carried into the study's decoder).
///
/// Dims of the residual stream:
///
///     one = 1      first = [first token]      position = 0, later g(t)      rest = 1 - first      ...      content
///
/// Attention of head 0 is uniform (no queries), its value is `first`, and so it adds 1/t to the dim `position` of token
/// t = 1, 2, ... The feed-forward is a piecewise linear function of 1/t with a knot at every 1/j,
///
///     f(1/t) = a + sum_{j < n} c_j relu(1/j - 1/t),      a = y_1,   c_1 = -m_1,   c_j = m_(j-1) - m_j,
///     m_t = (y_t - y_(t+1)) t (t + 1),
///
/// which passes through any y_1 .. y_n: n units for one function or for many at once, since they share the knots.
///
/// Under RMSNorm the feed-forward sees everything divided by r_t = sqrt(mean square + epsilon). It has no biases, so it
/// is homogeneous: relu(one / (j r_t) - 1 / (t r_t)) = relu(1/j - 1/t) / r_t. The residual stream of token t has a norm
/// that depends on t alone (`rest` and codes of equal norm for all contents see to that), so asking for y_t r_t instead
/// of y_t undoes the norm exactly at every t.
#include <cstdint>
#include <vector>

#include "model/decoder.h"

namespace lengthwise {

namespace code_dims {
inline constexpr int64_t one = 0, first = 1, position = 2, rest = 3, free = 4;
}

/// A function of the position to be found in a dim of the residual stream after the first layer.
struct WrittenDim {
  int64_t dim = 0;
  std::vector<double> values;  ///< at t = 1, 2, ..., n; what stands there once the layer has passed
};

/// Sets every parameter of the decoder: the construction in the first layer, zero in the others (which then pass the
/// residual stream on), norm gains 1. Row `first_token` of the embedding is the first token's. All `written` have the
/// same n. Dims that are not written keep what the embedding and attention put there. UserError when the feed-forward
/// has too few units or the width too few dims.
void write_positions(Decoder& decoder, int64_t first_token, const std::vector<WrittenDim>& written);

/// The dims at the end that hold a token's content: +-1 in each, another pattern for every row of the embedding.
int64_t content_begin(const Decoder& decoder);
int64_t content_count(const Decoder& decoder);

/// What a norm divides by for a residual stream with this sum of squares; 1 without norms.
double norm_divisor(const Decoder& decoder, double sum_of_squares);

/// Entry of a query, key or value projection of one head: dim of the residual stream, dim of the head, weight.
struct HeadEntry {
  int64_t from = 0, to = 0;
  double weight = 0;
};
enum class Projection : int64_t { query, key, value };
void set_projection(Decoder& decoder, int64_t layer, int64_t head, Projection projection,
                    const std::vector<HeadEntry>& entries);

/// Adds `weight` times dim `from` of a head's result to dim `to` of the residual stream.
void set_output(Decoder& decoder, int64_t layer, int64_t head, const std::vector<HeadEntry>& entries);

}  // namespace lengthwise
