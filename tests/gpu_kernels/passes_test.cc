// Rectifier and embedding on the GPU against the CPU's in double.
#include "gpu_kernels/dropout_mask.h"
#include "gpu_kernels/embedding.h"
#include "gpu_kernels/norm.h"
#include "gpu_kernels/relu.h"
#include "gpu_kernels/sort_rows.h"
#include "kernels/elementwise.h"
#include "tests/gpu_kernels/device_tensor.h"
#include "tests/gpu_kernels/step_dropout.h"

namespace lengthwise::gpu {
namespace {

TEST(GpuDropoutMask, IsTheCpus) {
  if (!device_present()) GTEST_SKIP() << "no GPU is present";
  const DeviceValue<uint64_t> seed(kStepSeed);
  for (const auto& [rows, columns] : {std::pair<int64_t, int64_t>{37, 50}, {3, 129}, {1, 1}, {300, 64}}) {
    const DeviceTensor mask({rows, columns}, at::kFloat);
    dropout_mask(DropoutArgs(0.3, seed.data(), 4, 2), rows, columns, mask.data<float>(), nullptr);
    EXPECT_TRUE(at::equal(mask.host(), lengthwise::dropout_mask(on_the_cpu(0.3, 4, 2), rows, columns, at::kFloat)));
  }
}

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
