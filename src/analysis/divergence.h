#pragma once
/// How far apart two ways of attending are: for every pair of heads, over the same queries and keys.
///
/// With p and q the weights of two heads for one query, m = (p + q) / 2, natural logarithms and 0 ln 0 = 0:
///
///     jensen_shannon   1/2 KL(p || m) + 1/2 KL(q || m) = H(m) - 1/2 H(p) - 1/2 H(q),     in [0, ln 2]
///     as_published     1/2 KL(m || p) + 1/2 KL(m || q)                                   at least 0, without bound
///
/// The second is what the founding study's code computes under the name of the first: arguments of KL exchanged. It is
/// infinite where one head has no weight at all on a key that the other sees.
#include <ATen/core/Tensor.h>

#include <cstdint>

namespace lengthwise {

enum class Divergence { jensen_shannon, as_published };
std::string to_text(Divergence divergence);

/// Sums over queries, [head of a, head of b] double. `a` and `b` are logarithms of weights, [head, query, key] double,
/// -inf where there is none.
at::Tensor divergence_sums(const at::Tensor& a, const at::Tensor& b, Divergence divergence);

/// The least of the means over queries, and its pair of heads. The published computation compares head i of b with head
/// j of a only for i < j, so never two heads of the same number.
struct NearestHeads {
  double divergence = 0;
  int64_t head = 0, other_head = 0;
};
NearestHeads nearest_heads(const at::Tensor& means, Divergence divergence);

}  // namespace lengthwise
