#pragma once
/// Biases of pairs of places from a table by distance, where distances are not those of the index:
///
///     y_hij = table[h, d_ij],   d_ij = max(q_i - k_j, 0)
///
/// Between whole distances the two around it are mixed by their shares; behind the table's end its last number stands.
/// Sums of the gradient are double, in one order whatever the thread count.
#include <ATen/core/Tensor.h>

namespace lengthwise {

struct PairPlaces {
  at::Tensor queries;  ///< q [batch, query], int64 or double
  at::Tensor keys;     ///< k [batch, key], of the same type
};

/// y [batch, head, query, key], differentiable by the table [head, distance]: fused, on the CPU in float or double; and
/// by ordinary operations, anywhere.
at::Tensor pair_biases(const at::Tensor& table, const PairPlaces& places);
at::Tensor plain_pair_biases(const at::Tensor& table, const PairPlaces& places);

}  // namespace lengthwise
