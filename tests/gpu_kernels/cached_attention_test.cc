// Attention of new tokens over a cache, and the tokens that come of it, against plain tensor operations.
#include "gpu_kernels/cached_attention.h"

#include "gpu_kernels/next_token.h"
#include "tests/gpu_kernels/device_tensor.h"

namespace lengthwise::gpu {
namespace {

struct CacheCase {
  Storage storage;
  int64_t heads, dim;
  bool table;
  int64_t window = 0;
  bool query_scale = false;
  bool dense = false;
};

class GpuCachedAttention : public testing::TestWithParam<CacheCase> {};

/// What one new token of one head sees: q [dim], keys and values [token, dim], its biases of pairs [token], in double.
at::Tensor attend(const at::Tensor& q, const at::Tensor& keys, const at::Tensor& values, double scale,
                  const at::Tensor& table, const at::Tensor& dense, int64_t window) {
  at::Tensor scores = at::matmul(keys, q) * scale;
  if (table.defined()) scores = scores + table.narrow(0, 0, keys.size(0)).flip(0);
  if (dense.defined()) scores = scores + dense.narrow(0, 0, keys.size(0));
  const int64_t seen = window > 0 ? std::min(window, keys.size(0)) : keys.size(0);
  const int64_t first = keys.size(0) - seen;
  return at::matmul(at::softmax(scores.narrow(0, first, seen), 0), values.narrow(0, first, seen));
}

TEST_P(GpuCachedAttention, AgreesWithTensorOperations) {
  if (!device_present()) GTEST_SKIP() << "no GPU is present";
  const CacheCase& c = GetParam();
  at::manual_seed(12);
  constexpr int64_t kCapacity = 90;
  constexpr int64_t kFirst = 1;  // the first row stays empty until its token comes
  constexpr double kScale = 0.3;
  const std::vector<int64_t> prompts = {1, 17, 88, 40};
  const auto sequences = static_cast<int64_t>(prompts.size());
  const int64_t rows = kFirst + sequences;
  std::vector<int32_t> offsets = {0};
  for (const int64_t prompt : prompts) offsets.push_back(offsets.back() + static_cast<int32_t>(prompt));
  const at::Tensor old = at::randn({offsets.back(), 3, c.heads, c.dim}).to(type_of(c.storage));
  const at::Tensor fresh = at::randn({2, rows, 3, c.heads, c.dim}).to(type_of(c.storage));
  const at::Tensor table = at::randn({c.heads, kCapacity + 3});
  const at::Tensor dense = at::randn({c.heads, kCapacity + 6, kCapacity + 6});
  const at::Tensor factors = c.query_scale ? at::randn({rows, c.heads}) : at::ones({rows, c.heads});

  const DeviceTensor old_in(old), offsets_in(at::tensor(offsets, at::kInt)), table_in(table), factors_in(factors),
      dense_in(dense);
  const DeviceTensor keys({rows, c.heads, kCapacity, c.dim}, type_of(c.storage));
  const DeviceTensor values({rows, c.heads, kCapacity, c.dim}, type_of(c.storage));
  CachedAttention args;
  args.cache = {c.storage, c.heads, c.dim, kCapacity, keys.data(), values.data()};
  args.rows = rows;
  args.scale = static_cast<float>(kScale);
  args.table = c.table ? table_in.data<float>() : nullptr;
  args.distances = kCapacity + 3;
  args.query_scale = c.query_scale ? factors_in.data<float>() : nullptr;
  args.dense = c.dense ? dense_in.data<float>() : nullptr;
  args.dense_places = kCapacity + 6;
  args.window = c.window;
  store_keys(args.cache, old_in.data(), offsets_in.data<int32_t>(), sequences, kFirst, nullptr);

  for (int64_t step = 0; step < 2; ++step) {
    std::vector<int32_t> positions = {static_cast<int32_t>(step)};
    for (const int64_t prompt : prompts) positions.push_back(static_cast<int32_t>(prompt + step));
    const DeviceTensor fresh_in(fresh[step]), positions_in(at::tensor(positions, at::kInt));
    const DeviceTensor out({rows, c.heads, c.dim}, type_of(c.storage));
    args.qkv = fresh_in.data();
    args.positions = positions_in.data<int32_t>();
    args.out = out.data();
    cached_attention(args, nullptr);
    at::Tensor expected = at::empty({rows, c.heads, c.dim}, at::kDouble);
    for (int64_t row = 0; row < rows; ++row) {
      std::vector<at::Tensor> tokens;  // [3, head, dim] of each
      if (row >= kFirst) {
        const auto s = static_cast<size_t>(row - kFirst);
        for (int64_t t = offsets[s]; t < offsets[s + 1]; ++t) tokens.push_back(old[t]);
      }
      for (int64_t i = 0; i <= step; ++i) tokens.push_back(fresh[i][row]);
      const at::Tensor all = at::stack(tokens).to(at::kDouble);
      for (int64_t h = 0; h < c.heads; ++h) {
        const auto part = [&](int64_t which) { return all.select(1, which).select(1, h); };
        const at::Tensor bias = c.table ? table[h].to(at::kDouble) : at::Tensor();
        const double scale = kScale * factors[row][h].item<double>();
        const at::Tensor pairs = c.dense ? dense[h][all.size(0) - 1].to(at::kDouble) : at::Tensor();
        expected[row][h] = attend(part(0)[all.size(0) - 1], part(1), part(2), scale, bias, pairs, c.window);
      }
    }
    expect_close(out.host().to(at::kDouble), expected, c.storage == Storage::float32 ? 1e-5 : 1e-2, "out");
  }
}

INSTANTIATE_TEST_SUITE_P(
    Cases, GpuCachedAttention,
    testing::Values(CacheCase{Storage::float32, 3, 64, true}, CacheCase{Storage::float32, 1, 8, false},
                    CacheCase{Storage::bfloat16, 2, 64, false}, CacheCase{Storage::bfloat16, 2, 128, true},
                    CacheCase{Storage::bfloat16, 2, 24, true}, CacheCase{Storage::float32, 2, 16, true, 30, true},
                    CacheCase{Storage::bfloat16, 1, 64, false, 1, true},
                    CacheCase{Storage::float32, 2, 16, true, 30, false, true},
                    CacheCase{Storage::bfloat16, 2, 32, false, 0, false, true}));

TEST(GpuNextToken, TakesTheBestUntilTheEnd) {
  if (!device_present()) GTEST_SKIP() << "no GPU is present";
  constexpr int64_t kCapacity = 5;
  // Goes on; ends by the marker; ends at the last place; has ended before.
  const DeviceTensor best(at::tensor({7, 0, 9, 9}, at::kInt)), tokens(at::tensor({1, 2, 3, 4}, at::kInt)),
      positions(at::tensor({0, 1, 3, 2}, at::kInt)), alive(at::tensor({1, 1, 1, 0}, at::kInt)),
      made(at::full({4, kCapacity}, -1, at::kInt));
  NextToken args;
  args.rows = 4;
  args.best = best.data<int32_t>();
  args.end = 0;
  args.capacity = kCapacity;
  args.tokens = tokens.data<int32_t>();
  args.positions = positions.data<int32_t>();
  args.alive = alive.data<int32_t>();
  args.made = made.data<int32_t>();
  next_token(args, nullptr);
  expect_equal(tokens.host(), at::tensor({7, 0, 9, 4}, at::kInt), "tokens");
  expect_equal(positions.host(), at::tensor({1, 2, 4, 2}, at::kInt), "positions");
  expect_equal(alive.host(), at::tensor({1, 0, 0, 0}, at::kInt), "alive");
  at::Tensor expected = at::full({4, kCapacity}, -1, at::kInt);
  expected[0][1] = 7;
  expected[1][2] = 0;
  expected[2][4] = 9;
  expect_equal(made.host(), expected, "made");
}

}  // namespace
}  // namespace lengthwise::gpu
