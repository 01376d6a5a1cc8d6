// Rows that are picked, sorted and added up on the GPU.
#include "gpu_kernels/rows.h"

#include <deque>

#include "gpu_kernels/sort_rows.h"
#include "gpu_kernels/sums.h"
#include "tests/gpu_kernels/device_tensor.h"

namespace lengthwise::gpu {
namespace {

class GpuRows : public GpuTest {};

TEST_F(GpuRows, RowsAreGatheredAndSpread) {
  const at::Tensor x = at::randn({9, 24});
  const at::Tensor y = at::randn({9, 6});
  const at::Tensor index = at::tensor({4, -1, 8, 0, -1, 4}, at::kInt);
  const DeviceTensor x_in(x), y_in(y), index_in(index);
  const DeviceTensor x_out({6, 24}, at::kFloat), y_out({6, 6}, at::kFloat);
  const RowJob jobs[] = {{x_in.data(), x_out.data(), 24 * 4}, {y_in.data(), y_out.data(), 6 * 4}};
  gather_rows(index_in.data<int32_t>(), 6, jobs, nullptr);
  const at::Tensor unknown = (index < 0).unsqueeze(1);
  const at::Tensor rows = index.clamp_min(0).to(at::kLong);
  expect_equal(x_out.host(), x.index_select(0, rows).masked_fill(unknown, 0), "rows of x");
  expect_equal(y_out.host(), y.index_select(0, rows).masked_fill(unknown, 0), "rows of y");
}

TEST_F(GpuRows, RowsOfMoreArraysThanALaunchTakesAreGathered) {
  const auto arrays = static_cast<int64_t>(kMostJobs + 3);
  const at::Tensor x = at::randn({arrays, 5, 12});
  const at::Tensor index = at::tensor({4, 0, 0, 3}, at::kInt);
  const DeviceTensor x_in(x), index_in(index);
  const DeviceTensor out({arrays, 4, 12}, at::kFloat);
  std::vector<RowJob> jobs;
  for (int64_t array = 0; array < arrays; ++array)
    jobs.push_back({x_in.data<float>() + array * 60, out.data<float>() + array * 48, 12 * 4});
  gather_rows(index_in.data<int32_t>(), 4, jobs, nullptr);
  expect_equal(out.host(), x.index_select(1, index.to(at::kLong)), "rows");
}

TEST_F(GpuRows, NumbersAreSummedByPosition) {
  // Sequences of 3, none, 5 and 1 tokens, the third from position 2 on; a token behind them belongs to none.
  const at::Tensor offsets = at::tensor({0, 3, 3, 8, 9}, at::kInt);
  const at::Tensor positions = at::tensor({0, 1, 2, 2, 3, 4, 5, 6, 0, 0}, at::kInt);
  const int64_t tokens = 10, columns = 3, rows = 8;
  // More sums than a launch takes, every other one of two parts.
  const auto count = static_cast<int64_t>(kMostJobs + 2);
  const at::Tensor values = at::randn({count + 1, tokens, columns});
  const DeviceTensor values_in(values), offsets_in(offsets), positions_in(positions);
  const DeviceTensor out({count, rows, columns}, at::kFloat);
  SumByPosition args;
  args.part_stride = tokens * columns;
  args.columns = columns;
  args.offsets = offsets_in.data<int32_t>();
  args.positions = positions_in.data<int32_t>();
  args.sequences = 4;
  args.rows = rows;
  std::vector<PositionSum> sums;
  at::Tensor expected = at::zeros({count, rows, columns});
  for (int64_t sum = 0; sum < count; ++sum) {
    const int64_t parts = 1 + sum % 2;
    sums.push_back({values_in.data<float>() + sum * args.part_stride, parts, out.data<float>() + sum * rows * columns});
    const at::Tensor added = values.narrow(0, sum, parts).sum(0).narrow(0, 0, 9);
    expected[sum].index_add_(0, positions.narrow(0, 0, 9).to(at::kLong), added);
  }
  sum_by_position(args, sums, nullptr);
  expect_close(out.host(), expected, 1e-6, "sums");
}

TEST_F(GpuRows, RowsAreSortedByKeyAndStable) {
  for (const int64_t real : {2100, 9000, 10240}) {
    const at::Tensor keys = at::randint(0, 40, {real + 4}, at::kInt);
    const DeviceTensor keys_in(keys);
    const DeviceValue<int32_t> rows(static_cast<int32_t>(real));
    const DeviceTensor order({real + 4}, at::kInt);
    const DeviceTensor scratch({std::max<int64_t>(1, sort_rows_scratch(real + 4))}, at::kLong);
    sort_rows(keys_in.data<int32_t>(), rows.data(), real + 4, order.data<int32_t>(), scratch.data<uint64_t>(), nullptr);
    const at::Tensor expected = std::get<1>(at::sort(keys.narrow(0, 0, real), true, 0, false));
    EXPECT_TRUE(at::equal(order.host().narrow(0, 0, real).to(at::kLong), expected)) << real;
    EXPECT_TRUE(at::equal(order.host().narrow(0, real, 4), at::arange(real, real + 4, at::kInt))) << real;
  }
}

TEST_F(GpuRows, ColumnsAreFilledWithZerosAndLeftBehind) {
  // Alone and all in one launch, with other numbers of rows; those of the last list are moved four at a time.
  using Columns = std::vector<std::pair<int64_t, int64_t>>;
  for (const Columns& cases : {Columns{{39, 40}}, Columns{{388, 392}, {39, 40}, {40, 39}, {392, 388}},
                               Columns{{388, 392}, {392, 388}, {300, 304}}}) {
    for (const Storage storage : {Storage::bfloat16, Storage::float32}) {
      std::vector<at::Tensor> expected;
      std::deque<DeviceTensor> from, to;
      std::vector<ColumnJob> jobs;
      for (const auto& [from_columns, to_columns] : cases) {
        const int64_t rows = 7 + std::ssize(jobs);
        const at::Tensor x = at::randn({rows, from_columns}).to(type_of(storage));
        expected.push_back(at::constant_pad_nd(x, {0, to_columns - from_columns}).contiguous());
        from.emplace_back(x);
        to.emplace_back(at::full({rows, to_columns}, 9.0).to(type_of(storage)));
        jobs.push_back({from.back().data(), to.back().data(), rows, from_columns, to_columns});
      }
      copy_columns(storage, jobs, nullptr);
      for (size_t job = 0; job < jobs.size(); ++job) expect_equal(to[job].host(), expected[job], "columns");
    }
  }
}

}  // namespace
}  // namespace lengthwise::gpu
