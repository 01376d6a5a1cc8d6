#pragma once
/// Biases of pairs of places by a small network of one number, their distance as a share of what the query can reach:
///
///     x_ij = scale[max(q_i - k_j, 0)] / reach_i,      y_hij = sum over units u of out_uh relu(in_u x_ij + bias_u)
///
/// The network is linear between the points where a unit begins or ends, x = -bias_u / in_u, so that every pair needs
/// one slope and one offset per result, whatever the number of units, and nothing but y is ever kept of all pairs; its
/// gradients follow from sums of d_y and of x d_y over the pairs of each such piece. Sums are double, in one order
/// whatever the thread count.
#include <ATen/core/Tensor.h>

namespace lengthwise {

struct DistanceShares {
  at::Tensor scale;    ///< [distance], for all distances of these positions
  at::Tensor queries;  ///< q [batch, query] int64
  at::Tensor keys;     ///< k [batch, key] int64
  at::Tensor reach;    ///< [batch, query]
};

struct RampNetwork {
  at::Tensor in, bias;  ///< [unit]
  at::Tensor out;       ///< [unit, result]
};

/// y [batch, result, query, key], differentiable: by the pieces, on the CPU in float or double; and by the operations
/// of the formula, anywhere.
at::Tensor ramp_biases(const DistanceShares& shares, const RampNetwork& network);
at::Tensor plain_ramp_biases(const DistanceShares& shares, const RampNetwork& network);

/// The network alone, of any x [...]: y [..., result].
at::Tensor plain_ramp_network(const at::Tensor& x, const RampNetwork& network);

}  // namespace lengthwise
