#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cmath>

#include "analysis/divergence.h"

namespace lengthwise {
namespace {

/// Weights of some heads, among them sharp ones and keys without any.
rc::Gen<at::Tensor> some_heads(int64_t queries, int64_t keys) {
  const auto count = static_cast<std::size_t>(3 * queries * keys);
  return rc::gen::map(rc::gen::container<std::vector<double>>(
                          count, rc::gen::element(0.0, 0.0, 1e-300, 1e-30, 1e-8, 1e-3, 0.1, 1.0, 2.0, 7.0, 1e6)),
                      [=](const std::vector<double>& values) {
                        const at::Tensor counts = at::tensor(values, at::kDouble).view({3, queries, keys});
                        counts.select(2, 0).add_(1e-3);  // no row is empty
                        return (counts / counts.sum(-1, true)).log();
                      });
}

TEST(DivergenceProperty, LiesBetweenZeroAndTheLogarithmOfTwoForEveryQuery) {
  rc::check([] {
    const int64_t queries = *rc::gen::inRange(1, 5);
    const int64_t keys = *rc::gen::inRange(1, 7);
    const at::Tensor a = *some_heads(queries, keys);
    const at::Tensor b = *some_heads(queries, keys);
    const at::Tensor means = divergence_sums(a, b, Divergence::jensen_shannon) / static_cast<double>(queries);
    RC_ASSERT(means.min().item<double>() >= 0);
    RC_ASSERT(means.max().item<double>() <= std::log(2.0) * (1 + 1e-12));
    const at::Tensor back = divergence_sums(b, a, Divergence::jensen_shannon) / static_cast<double>(queries);
    RC_ASSERT((means - back.t()).abs().max().item<double>() < 1e-12);
    RC_ASSERT(divergence_sums(a, a, Divergence::jensen_shannon).diagonal().abs().max().item<double>() == 0.0);
    // Infinite where a head has no weight on a key that the other sees, but always a number.
    const at::Tensor published = divergence_sums(a, b, Divergence::as_published);
    RC_ASSERT(published.min().item<double>() >= 0);
    RC_ASSERT(!at::isnan(published).any().item<bool>());
  });
}

}  // namespace
}  // namespace lengthwise
