// Norms, rectifier and embedding on the GPU against the CPU's in double.
#include "core/rng.h"
#include "gpu_kernels/dropout_mask.h"
#include "gpu_kernels/embedding.h"
#include "gpu_kernels/norm.h"
#include "gpu_kernels/relu.h"
#include "gpu_kernels/sort_rows.h"
#include "gpu_kernels/sums.h"
#include "kernels/elementwise.h"
#include "tests/gpu_kernels/device_tensor.h"

namespace lengthwise::gpu {
namespace {

constexpr uint64_t kStepSeed = 77;

Dropout on_the_cpu(double probability, uint64_t place, uint64_t layer) {
  return {probability, mix64(kStepSeed + 64 * layer + place + 1)};
}

TEST(GpuDropoutMask, IsTheCpus) {
  if (!device_present()) GTEST_SKIP() << "no GPU is present";
  const DeviceValue<uint64_t> seed(kStepSeed);
  for (const auto& [rows, columns] : {std::pair<int64_t, int64_t>{37, 50}, {3, 129}, {1, 1}, {300, 64}}) {
    const DeviceTensor mask({rows, columns}, at::kFloat);
    dropout_mask(DropoutArgs(0.3, seed.data(), 4, 2), rows, columns, mask.data<float>(), nullptr);
    EXPECT_TRUE(at::equal(mask.host(), lengthwise::dropout_mask(on_the_cpu(0.3, 4, 2), rows, columns, at::kFloat)));
  }
}

struct NormCase {
  Storage storage;
  int64_t width;
  int64_t rows;
  double dropout = 0.1;
  bool end = false;          ///< the model's end: dropout and a scale behind the norm
  bool small_gains = false;  ///< every third gain is 0 or close to it, and some are negative
};

class GpuNorm : public testing::TestWithParam<NormCase> {};

TEST_P(GpuNorm, AgreesWithTheCpu) {
  if (!device_present()) GTEST_SKIP() << "no GPU is present";
  const NormCase& c = GetParam();
  at::manual_seed(3);
  constexpr int64_t kPadding = 3;
  const int64_t capacity = c.rows + kPadding;
  const at::Tensor x = at::randn({capacity, c.width});
  const at::Tensor branch = at::randn({capacity, c.width}).to(type_of(c.storage));
  at::Tensor gain = at::rand({c.width}) + 0.5;
  const at::Tensor small = at::arange(0, c.width, 3, at::kLong);
  if (c.small_gains) {
    gain.narrow(0, c.width / 2, c.width / 4).mul_(-1);
    gain.index_copy_(
        0, small,
        at::tensor({0.0f, 1e-30f, -1e-25f, -0.0f}).repeat({small.size(0) / 4 + 1}).narrow(0, 0, small.size(0)));
  }
  const at::Tensor d_normed = at::randn({capacity, c.width}).to(type_of(c.storage));
  const at::Tensor d_sum = at::randn({capacity, c.width});
  const double end_scale = c.end ? 0.25 : 1;
  const Dropout dropout = on_the_cpu(c.dropout, 4, 2);
  const Dropout end_dropout = on_the_cpu(c.end ? c.dropout : 0, 5, 0);

  const auto real = [&](const at::Tensor& t) { return t.narrow(0, 0, c.rows).to(at::kDouble); };
  at::Tensor sum_expected = at::empty({c.rows, c.width}, at::kDouble);
  at::Tensor inverse_expected = at::empty({c.rows}, at::kDouble);
  at::Tensor normed_expected = at::empty_like(sum_expected);
  lengthwise::add_norm_forward(real(x), real(branch), dropout, gain.to(at::kDouble), sum_expected, inverse_expected,
                               normed_expected);
  const at::Tensor plain_normed = normed_expected.clone();
  dropout_forward(normed_expected, end_dropout, normed_expected);
  normed_expected.mul_(end_scale);
  at::Tensor d_normed_expected = real(d_normed).clone();
  d_normed_expected.mul_(end_scale);
  dropout_forward(d_normed_expected, end_dropout, d_normed_expected);
  at::Tensor d_sum_expected = real(d_sum).clone();
  at::Tensor d_branch_expected = at::empty_like(sum_expected);
  at::Tensor d_gain_expected = at::zeros({c.width}, at::kDouble);
  lengthwise::add_norm_backward(d_normed_expected, sum_expected, inverse_expected, gain.to(at::kDouble), dropout,
                                d_sum_expected, d_branch_expected, d_gain_expected);

  const DeviceValue<uint64_t> seed(kStepSeed);
  const DeviceValue<int32_t> rows(static_cast<int32_t>(c.rows));
  const DeviceTensor x_in(x), branch_in(branch), gain_in(gain), d_normed_in(d_normed);
  const DeviceTensor sum({capacity, c.width}, at::kFloat), inverse({capacity}, at::kFloat);
  const DeviceTensor normed({capacity, c.width}, type_of(c.storage));
  AddNormForward forward;
  forward.storage = c.storage;
  forward.capacity = capacity;
  forward.width = c.width;
  forward.rows = rows.data();
  forward.x = x_in.data<float>();
  forward.branch = branch_in.data();
  if (c.dropout > 0) forward.dropout = DropoutArgs(c.dropout, seed.data(), 4, 2);
  forward.gain = gain_in.data<float>();
  forward.sum = sum.data<float>();
  forward.inverse = inverse.data<float>();
  forward.normed = normed.data();
  if (c.end) forward.normed_dropout = DropoutArgs(c.dropout, seed.data(), 5, 0);
  forward.normed_scale = static_cast<float>(end_scale);
  add_norm_forward(forward, nullptr);
  const double tolerance = tolerance_of(c.storage);
  expect_close(sum.host().narrow(0, 0, c.rows), sum_expected, 1e-6, "sum");
  expect_close(normed.host().narrow(0, 0, c.rows), normed_expected, tolerance, "normed");
  expect_close(inverse.host().narrow(0, 0, c.rows), inverse_expected, 1e-5, "inverse");
  expect_zero_rows(sum.host(), c.rows, "sum");
  expect_zero_rows(normed.host(), c.rows, "normed");

  // Twice what the norm saw is read from the sum, then, where that tells it, from the norm's result, then from both.
  at::Tensor before, d_sum_before;
  for (int turn = 0; turn < (c.end ? 2 : 4); ++turn) {
    if (turn == 2 && c.small_gains) continue;
    const bool from_normed = turn >= 2;
    const DeviceTensor d_sum_in(d_sum);
    const DeviceTensor d_branch({capacity, c.width}, type_of(c.storage));
    const int64_t parts = add_norm_parts(capacity);
    const DeviceTensor gain_parts({parts, c.width}, at::kFloat);
    const DeviceTensor d_gain(at::ones({c.width}));
    AddNormBackward backward;
    backward.storage = c.storage;
    backward.capacity = capacity;
    backward.width = c.width;
    backward.rows = rows.data();
    backward.d_normed = d_normed_in.data();
    if (from_normed) backward.normed = normed.data();
    if (turn != 2) backward.sum = sum.data<float>();
    backward.inverse = inverse.data<float>();
    backward.gain = gain_in.data<float>();
    backward.dropout = forward.dropout;
    backward.d_sum = d_sum_in.data<float>();
    backward.d_branch = d_branch.data();
    backward.gain_parts = gain_parts.data<float>();
    backward.normed_dropout = forward.normed_dropout;
    backward.normed_scale = forward.normed_scale;
    add_norm_backward(backward, nullptr);
    const DeviceTensor outs(at::tensor(reinterpret_cast<int64_t>(d_gain.data()), at::kLong));
    SumParts sum_up;
    sum_up.values = gain_parts.data<float>();
    sum_up.groups = 1;
    sum_up.parts = parts;
    sum_up.columns = c.width;
    sum_up.part_stride = c.width;
    sum_up.outs = outs.data<float*>();
    sum_parts(sum_up, nullptr);
    const double rounded = from_normed ? tolerance : 0;
    expect_close(d_sum_in.host().narrow(0, 0, c.rows), d_sum_expected, std::max(rounded, 1e-5), "d_sum");
    expect_close(d_branch.host().narrow(0, 0, c.rows), d_branch_expected, tolerance, "d_branch");
    expect_close(d_gain.host() - 1, d_gain_expected, std::max(rounded, 1e-4), "d_gain");
    expect_zero_rows(d_sum_in.host(), c.rows, "d_sum");
    expect_zero_rows(d_branch.host(), c.rows, "d_branch");
    if (turn == 1 || (turn == 3 && !c.small_gains)) {
      expect_equal(d_gain.host(), before, "d_gain");
      expect_equal(d_sum_in.host(), d_sum_before, "d_sum");
    }
    before = d_gain.host();
    d_sum_before = d_sum_in.host();
    if (!c.small_gains) continue;
    const auto added = [&](const at::Tensor& sum_of) {
      return (sum_of.narrow(0, 0, c.rows).to(at::kDouble) - real(d_sum)).index_select(1, small);
    };
    expect_close(added(d_sum_in.host()), added(d_sum_expected), tolerance, "what a column of small gain passes back");
    expect_close(before.index_select(0, small) - 1, d_gain_expected.index_select(0, small), tolerance, "its gain");
  }
}

std::vector<NormCase> norm_cases() {
  std::vector<NormCase> all{{Storage::bfloat16, 768, 19}, {Storage::float32, 128, 9, 0},
                            {Storage::bfloat16, 132, 5},  {Storage::float32, 768, 11, 0.1, true},
                            {Storage::bfloat16, 1280, 4}, {Storage::float32, 36, 30}};
  for (const Storage storage : {Storage::bfloat16, Storage::float32}) {
    for (const int64_t width : {768, 1280}) all.push_back({storage, width, 11, 0.1, false, /*small_gains=*/true});
  }
#ifdef LENGTHWISE_CUDA
  for (const Storage storage : {Storage::bfloat16, Storage::float32}) {
    for (const int64_t width : {128, 256, 512, 768, 1024, 2048, 4096, 8192}) all.push_back({storage, width, 2501});
  }
#endif
  return all;
}
INSTANTIATE_TEST_SUITE_P(Cases, GpuNorm, testing::ValuesIn(norm_cases()));

class GpuPasses : public GpuTest {};

TEST_F(GpuPasses, RectifierAgreesWithTheCpu) {
  const DeviceValue<uint64_t> seed(kStepSeed);
  for (const Storage storage : {Storage::float32, Storage::bfloat16}) {
    for (const int64_t width : {8, 512, 3072}) {
      for (const double probability : {0.0, 0.1}) {
        const at::Tensor x = at::randn({7, width}).to(type_of(storage));
        const at::Tensor d_y = at::randn({7, width}).to(type_of(storage));
        const Dropout dropout = on_the_cpu(probability, 3, 1);
        at::Tensor y_expected = x.clone();
        lengthwise::relu_dropout_forward(y_expected, dropout);
        at::Tensor d_x_expected = d_y.clone();
        lengthwise::relu_dropout_backward(y_expected, dropout, d_x_expected);
        const DeviceTensor y(x), d_x(d_y);
        const DropoutArgs args = probability > 0 ? DropoutArgs(probability, seed.data(), 3, 1) : DropoutArgs();
        relu_dropout_forward(storage, y.data(), 7, width, args, nullptr);
        relu_dropout_backward(storage, y.data(), d_x.data(), 7, width, args, nullptr);
        expect_close(y.host(), y_expected, 1e-6, "y");
        expect_close(d_x.host(), d_x_expected, 1e-6, "dx");
      }
    }
  }
}

TEST_F(GpuPasses, EmbeddingAgreesWithTheCpu) {
  const DeviceValue<uint64_t> seed(kStepSeed);
  struct EmbedCase {
    int64_t vocabulary, width, tokens;
  };
  // Few tokens that are used often, so that sums cross many chunks; and many that are hardly used.
  for (const EmbedCase& c : {EmbedCase{3, 128, 200}, EmbedCase{30, 768, 150}, EmbedCase{5000, 36, 90},
                             EmbedCase{1, 1100, 16}, EmbedCase{2, 8, 33}}) {
    const int64_t capacity = c.tokens + 6;
    const at::Tensor table = at::randn({c.vocabulary, c.width});
    const at::Tensor positions = at::randn({50, c.width});
    const at::Tensor tokens = at::randint(0, c.vocabulary, {capacity}, at::kInt);
    const at::Tensor at_rows = at::randint(0, 50, {capacity}, at::kInt);
    const at::Tensor d_x = at::randn({capacity, c.width});
    const Dropout dropout = on_the_cpu(0.1, 0, 0);
    const at::Tensor real_tokens = tokens.narrow(0, 0, c.tokens).to(at::kLong);
    const at::Tensor addition = positions.to(at::kDouble).index_select(0, at_rows.narrow(0, 0, c.tokens).to(at::kLong));
    at::Tensor x_expected = at::empty({c.tokens, c.width}, at::kDouble);
    lengthwise::embed_forward(table.to(at::kDouble), real_tokens, addition, dropout, x_expected);
    at::Tensor d_x_expected = d_x.narrow(0, 0, c.tokens).to(at::kDouble).clone();
    at::Tensor d_table_expected = at::ones({c.vocabulary, c.width}, at::kDouble);
    lengthwise::embed_backward(real_tokens, dropout, d_x_expected, d_table_expected);

    const DeviceTensor table_in(table), positions_in(positions), tokens_in(tokens), at_in(at_rows), d_x_in(d_x);
    const DeviceValue<int32_t> rows(static_cast<int32_t>(c.tokens));
    const DeviceTensor x({capacity, c.width}, at::kFloat);
    EmbedForward forward;
    forward.capacity = capacity;
    forward.width = c.width;
    forward.rows = rows.data();
    forward.table = table_in.data<float>();
    forward.tokens = tokens_in.data<int32_t>();
    forward.addition = positions_in.data<float>();
    forward.at = at_in.data<int32_t>();
    forward.dropout = DropoutArgs(0.1, seed.data(), 0, 0);
    forward.x = x.data<float>();
    embed_forward(forward, nullptr);
    expect_close(x.host().narrow(0, 0, c.tokens), x_expected, 1e-6, "x");
    expect_zero_rows(x.host(), c.tokens, "x");

    const DeviceTensor order({capacity}, at::kInt);
    sort_rows(tokens_in.data<int32_t>(), rows.data(), capacity, order.data<int32_t>(), nullptr, nullptr);
    at::Tensor before;
    for (int turn = 0; turn < 2; ++turn) {
      const DeviceTensor d_table(at::ones({c.vocabulary, c.width}));
      const DeviceTensor borders({(capacity + kEmbedChunk - 1) / kEmbedChunk, 2, c.width}, at::kFloat);
      EmbedBackward backward;
      backward.capacity = capacity;
      backward.width = c.width;
      backward.rows = rows.data();
      backward.keys = tokens_in.data<int32_t>();
      backward.order = order.data<int32_t>();
      backward.dx = d_x_in.data<float>();
      backward.dropout = forward.dropout;
      backward.d_table = d_table.data<float>();
      backward.borders = borders.data<float>();
      embed_backward(backward, nullptr);
      expect_close(d_table.host(), d_table_expected, 1e-5, "d_table");
      if (turn == 1) expect_equal(d_table.host(), before, "d_table");
      before = d_table.host();
    }
  }
}

TEST_F(GpuPasses, RefuseOddWidths) {
  AddNormForward norm;
  norm.capacity = 1;
  norm.width = 30;
  EXPECT_THROW(add_norm_forward(norm, nullptr), std::logic_error);
  EXPECT_THROW(relu_dropout_forward(Storage::float32, nullptr, 1, 12, {}, nullptr), std::logic_error);
  EmbedForward embed;
  embed.capacity = 1;
  embed.width = 6;
  EXPECT_THROW(embed_forward(embed, nullptr), std::logic_error);
}

}  // namespace
}  // namespace lengthwise::gpu
