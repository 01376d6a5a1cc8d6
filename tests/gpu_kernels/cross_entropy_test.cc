// The loss on the GPU against the CPU's.
#include "gpu_kernels/cross_entropy.h"

#include <array>

#include "kernels/elementwise.h"
#include "tests/gpu_kernels/device_tensor.h"

namespace lengthwise::gpu {
namespace {

class GpuCrossEntropy : public GpuTest {};

struct LossCase {
  Storage in, out;
  int64_t vocabulary, stride, rows;
};

TEST_F(GpuCrossEntropy, AgreesWithTheCpu) {
  constexpr Storage kFloat = Storage::float32;
  constexpr Storage kBf16 = Storage::bfloat16;
  at::manual_seed(5);
  for (const LossCase& c : {LossCase{kFloat, kFloat, 30, 32, 40}, LossCase{kFloat, kBf16, 1000, 1000, 5},
                            LossCase{kBf16, kBf16, 3301, 3304, 4}, LossCase{kFloat, kFloat, 5000, 5000, 3},
                            LossCase{kFloat, kBf16, 9001, 9004, 4}, LossCase{kFloat, kFloat, 32100, 32104, 3},
                            LossCase{kFloat, kBf16, 40000, 40000, 2}, LossCase{kBf16, kFloat, 2, 4, 9}}) {
    const int64_t capacity = c.rows + 2;
    at::Tensor logits = (at::randn({capacity, c.stride}) * 3).to(type_of(c.in));
    logits[1].fill_(0.5);  // all equal: the first is the best
    const at::Tensor targets = at::randint(0, c.vocabulary, {capacity}, at::kInt);
    at::Tensor expected = logits.narrow(0, 0, c.rows).narrow(1, 0, c.vocabulary).to(at::kDouble).contiguous();
    at::Tensor losses_expected = at::empty({c.rows}, at::kDouble);
    at::Tensor best_expected = at::empty({c.rows}, at::kLong);
    const double weight = 1.0 / static_cast<double>(c.rows);
    lengthwise::cross_entropy(expected, targets.narrow(0, 0, c.rows).to(at::kLong), weight, losses_expected,
                              best_expected);

    const DeviceTensor in(logits), targets_in(targets);
    const DeviceTensor d_logits({capacity, c.stride}, type_of(c.out));
    const DeviceTensor losses({capacity}, at::kFloat), best({capacity}, at::kInt);
    const DeviceValue<int32_t> rows(static_cast<int32_t>(c.rows));
    const DeviceValue<float> weight_in(static_cast<float>(weight));
    CrossEntropy args;
    args.logits_storage = c.in;
    args.logits = in.data();
    args.capacity = capacity;
    args.vocabulary = c.vocabulary;
    args.stride = c.stride;
    args.rows = rows.data();
    args.targets = targets_in.data<int32_t>();
    args.weight = weight_in.data();
    args.losses = losses.data<float>();
    args.best = best.data<int32_t>();
    args.d_storage = c.out;
    args.d_logits = d_logits.data();
    cross_entropy(args, nullptr);
    const double tolerance = tolerance_of(c.out);
    expect_close(losses.host().narrow(0, 0, c.rows), losses_expected, 1e-5, "losses");
    EXPECT_TRUE(at::equal(best.host().narrow(0, 0, c.rows).to(at::kLong), best_expected));
    expect_close(d_logits.host().narrow(0, 0, c.rows).narrow(1, 0, c.vocabulary), expected, tolerance, "d_logits");
    expect_zero_rows(d_logits.host(), c.rows, "d_logits");
    expect_zero_rows(d_logits.host().t().contiguous(), c.vocabulary, "d_logits behind the vocabulary");
    expect_zero_rows(losses.host().unsqueeze(1), c.rows, "losses");
    if (c.in != c.out) continue;
    args.d_logits = in.data();
    cross_entropy(args, nullptr);
    expect_equal(in.host(), d_logits.host(), "gradients in place");
  }
}

TEST_F(GpuCrossEntropy, InPiecesIsThatOfTheWhole) {
  constexpr int64_t kCapacity = 17;
  constexpr int64_t kRows = 8;  // real ones: they end within the second piece of 5 rows
  at::manual_seed(6);
  for (const int64_t vocabulary : {30, 1502}) {
    const int64_t stride = vocabulary + 2;
    const DeviceTensor logits(at::randn({kCapacity, stride})),
        targets(at::randint(0, vocabulary, {kCapacity}, at::kInt));
    const DeviceValue<int32_t> rows(kRows);
    const DeviceValue<float> weight(0.125f);
    const auto run = [&](int64_t most) {
      const DeviceTensor losses({kCapacity}, at::kFloat), best({kCapacity}, at::kInt),
          d_logits({kCapacity, stride}, at::kBFloat16);
      for (int64_t first = 0; first < kCapacity; first += most) {
        CrossEntropy args;
        args.logits = logits.data<float>() + first * stride;
        args.capacity = std::min(most, kCapacity - first);
        args.vocabulary = vocabulary;
        args.stride = stride;
        args.first = first;
        args.rows = rows.data();
        args.targets = targets.data<int32_t>() + first;
        args.weight = weight.data();
        args.losses = losses.data<float>() + first;
        args.best = best.data<int32_t>() + first;
        args.d_storage = Storage::bfloat16;
        args.d_logits = d_logits.data<at::BFloat16>() + first * stride;
        cross_entropy(args, nullptr);
      }
      return std::array{losses.host(), best.host(), d_logits.host()};
    };
    const auto whole = run(kCapacity);
    expect_zero_rows(whole[2], kRows, "d_logits");
    EXPECT_GT(whole[2].narrow(0, kRows - 1, 1).abs().sum().item<float>(), 0);
    for (const int64_t most : {5, 8, 16}) {
      const auto pieces = run(most);
      expect_equal(pieces[0], whole[0], "losses");
      expect_equal(pieces[1], whole[1], "best");
      expect_equal(pieces[2], whole[2], "d_logits");
    }
  }
}

}  // namespace
}  // namespace lengthwise::gpu
