// Attention over kept keys against attention over whole sequences, which has its plain twin elsewhere.
#include "kernels/cached_attention.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

namespace lengthwise {
namespace {

struct CacheCase {
  at::ScalarType storage;
  int64_t heads, dim, pairs;
  bool table;
};

std::ostream& operator<<(std::ostream& to, const CacheCase& c) {
  to << c.storage << "_" << c.heads << "x" << c.dim;
  if (c.pairs > 0) to << "_rotated_" << c.pairs;
  if (c.table) to << "_table";
  return to;
}

class CachedAttention : public testing::TestWithParam<CacheCase> {};

TEST_P(CachedAttention, IsTheLastRowOfTheWholeSequence) {
  const CacheCase& c = GetParam();
  const at::ScalarType computing = c.storage == at::kDouble ? at::kDouble : at::kFloat;
  at::manual_seed(3);
  constexpr int64_t kCapacity = 40;
  constexpr int64_t kFirst = 1;
  const std::vector<int64_t> lengths = {2, 17, 40, 5};
  const auto sequences = static_cast<int64_t>(lengths.size());
  const int64_t inner = c.heads * c.dim;
  AttentionInputs whole;
  std::vector<int64_t> offsets = {0}, last, before, prompt_offsets = {0};
  for (const int64_t length : lengths) {
    for (int64_t t = 0; t + 1 < length; ++t) before.push_back(offsets.back() + t);
    offsets.push_back(offsets.back() + length);
    last.push_back(offsets.back() - 1);
    prompt_offsets.push_back(std::ssize(before));
  }
  whole.qkv = at::randn({offsets.back(), 3 * inner}).to(c.storage);
  whole.offsets = at::tensor(offsets, at::kLong);
  whole.heads = c.heads;
  whole.scale = 0.3;
  if (c.pairs > 0) {
    const at::Tensor angles = at::randn({offsets.back(), c.pairs}, computing);
    whole.cos = angles.cos();
    whole.sin = angles.sin();
  }
  if (c.table) whole.table = at::randn({c.heads, kCapacity}, computing);
  at::Tensor expected = at::empty({offsets.back(), inner}, c.storage);
  at::Tensor log_sum = at::empty({offsets.back(), c.heads}, computing);
  attention_forward(whole, expected, log_sum);

  const auto rows_of = [&](const std::vector<int64_t>& rows) {
    const at::Tensor index = at::tensor(rows, at::kLong);
    AttentionInputs some = whole;
    some.qkv = whole.qkv.index_select(0, index);
    if (c.pairs > 0) {
      some.cos = whole.cos.index_select(0, index);
      some.sin = whole.sin.index_select(0, index);
    }
    return some;
  };
  KeptKeys kept{at::full({kFirst + sequences, c.heads, kCapacity, c.dim}, NAN, c.storage),
                at::full({kFirst + sequences, c.heads, kCapacity, c.dim}, NAN, c.storage)};
  AttentionInputs prompts = rows_of(before);
  prompts.offsets = at::tensor(prompt_offsets, at::kLong);
  store_keys(prompts, kFirst, kept);
  // The first row's sequence begins with its new token: it sees that alone.
  std::vector<int64_t> fresh = {0}, places = {0};
  for (int64_t s = 0; s < sequences; ++s) {
    fresh.push_back(last[static_cast<size_t>(s)]);
    places.push_back(lengths[static_cast<size_t>(s)] - 1);
  }
  at::Tensor out = at::empty({kFirst + sequences, inner}, c.storage);
  cached_attention(rows_of(fresh), at::tensor(places, at::kLong), kept, out);
  const double tolerance = c.storage == at::kDouble ? 1e-12 : c.storage == at::kFloat ? 1e-5 : 2e-2;
  EXPECT_TRUE(at::allclose(out.to(at::kDouble), expected.index_select(0, at::tensor(fresh, at::kLong)).to(at::kDouble),
                           tolerance, tolerance));
}

INSTANTIATE_TEST_SUITE_P(Cases, CachedAttention,
                         testing::Values(CacheCase{at::kDouble, 3, 24, 5, true},
                                         CacheCase{at::kFloat, 2, 32, 16, false}, CacheCase{at::kFloat, 2, 64, 0, true},
                                         CacheCase{at::kBFloat16, 2, 64, 8, true},
                                         CacheCase{at::kBFloat16, 1, 8, 0, false}));

}  // namespace
}  // namespace lengthwise
