// Recurrent layers against their formulas, finite differences, and the number of multiplications they may take.
#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <ATen/record_function.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>

#include "core/error.h"
#include "recurrent/clockwork.h"
#include "recurrent/lstm.h"
#include "recurrent/periods.h"
#include "recurrent/waveform.h"

namespace lengthwise {
namespace {

constexpr int64_t kInputs = 3;

at::Tensor drawn(at::IntArrayRef shape, const char* name) {
  at::Tensor values = at::empty(shape, at::kDouble);
  fill_normal(Rng(5).stream(name), 0.7, values.data_ptr<double>(), values.numel());
  return values;
}

struct Layer {
  Parameters parameters;
  std::unique_ptr<RecurrentLayer> layer;

  explicit Layer(const std::function<std::unique_ptr<RecurrentLayer>(Parameters&)>& make) : layer(make(parameters)) {
    parameters.allocate(at::kDouble, Rng(1));
    const at::NoGradGuard no_grad;
    for (Parameter& parameter : parameters.all()) {
      parameter.value.copy_(drawn(parameter.shape, parameter.name.c_str()));
    }
  }
  const at::Tensor& value(const std::string& name) const {
    for (const Parameter& parameter : parameters.all()) {
      if (parameter.name == name) return parameter.value;
    }
    throw std::runtime_error("no parameter " + name);
  }
};

Layer clockwork(int64_t units, std::vector<int64_t> periods) {
  return Layer([&](Parameters& p) { return std::make_unique<ClockworkLayer>(p, "", kInputs, units, periods); });
}
Layer lstm(int64_t units) {
  return Layer([&](Parameters& p) { return std::make_unique<LstmLayer>(p, "", kInputs, units); });
}

TimeOrder order_of(const std::vector<int64_t>& lengths) {
  std::vector<int64_t> offsets{0};
  for (const int64_t length : lengths) offsets.push_back(offsets.back() + length);
  return time_order(at::tensor(offsets, at::kLong));
}

std::vector<int64_t> numbers(const at::Tensor& tensor) {
  return {tensor.const_data_ptr<int64_t>(), tensor.const_data_ptr<int64_t>() + tensor.numel()};
}

TEST(TimeOrder, PutsLongSequencesFirstAtEveryTime) {
  const TimeOrder order = order_of({2, 3, 1, 3});  // rows 0-1, 2-4, 5, 6-8
  EXPECT_EQ(order.counts, (std::vector<int64_t>{4, 3, 2}));
  EXPECT_EQ(order.starts, (std::vector<int64_t>{0, 4, 7}));
  EXPECT_EQ(numbers(order.from), (std::vector<int64_t>{2, 6, 0, 5, 3, 7, 1, 4, 8}));
  EXPECT_EQ(order.last, (std::vector<int64_t>{6, 7, 3, 8}));
  EXPECT_TRUE(at::equal(order.from.index_select(0, order.to), at::arange(9)));
}

TEST(Periods, RiseFromOne) {
  EXPECT_EQ(read_periods("1,2, 4"), (std::vector<int64_t>{1, 2, 4}));
  EXPECT_EQ(periods_text({3, 5}), "3,5");
  for (const char* wrong : {"", "0,1", "1,1", "2,1", "1,,2", "1,x", "-1", "1,2.5", "1,9999999"}) {
    EXPECT_THROW(read_periods(wrong), UserError) << wrong;
  }
}

/// Cells computed token by token from the formula, with a dense matrix.
TEST(Clockwork, UpdatesModulesByTheirClocksFromSlowerOnesAlone) {
  const Layer made = clockwork(6, {1, 2, 5});
  const at::Tensor x = drawn({11, kInputs}, "x");
  const at::NoGradGuard no_grad;
  const at::Tensor states = made.layer->run(x, order_of({11}));
  at::Tensor dense = at::zeros({6, 6}, at::kDouble);
  for (int64_t m = 0; m < 3; ++m) {
    dense.narrow(0, 2 * m, 6 - 2 * m).narrow(1, 2 * m, 2).copy_(made.value("recurrent." + std::to_string(m)));
  }
  at::Tensor h = at::zeros({6}, at::kDouble);
  for (int64_t t = 0; t < 11; ++t) {
    const at::Tensor fresh =
        at::tanh(at::matmul(x[t], made.value("input")) + at::matmul(h, dense) + made.value("bias"));
    const at::Tensor active = at::tensor(
        {1.0, 1.0, t % 2 == 0 ? 1.0 : 0.0, t % 2 == 0 ? 1.0 : 0.0, t % 5 == 0 ? 1.0 : 0.0, t % 5 == 0 ? 1.0 : 0.0},
        at::kDouble);
    h = active * fresh + (1 - active) * h;
    EXPECT_LT((states[t] - h).abs().max().item<double>(), 1e-12) << t;
  }
}

/// Multiplications of the matrix products that really run.
int64_t multiplications_of(const std::function<void()>& body) {
  int64_t count = 0;
  static thread_local int64_t* counter = nullptr;
  counter = &count;
  const auto handle = at::addThreadLocalCallback(
      at::RecordFunctionCallback([](const at::RecordFunction& call) -> std::unique_ptr<at::ObserverContext> {
        const std::string name = call.name();
        const auto inputs = call.inputs();
        const auto product = [&](size_t a, size_t b) {
          *counter += inputs[a].toTensor().size(0) * inputs[a].toTensor().size(1) * inputs[b].toTensor().size(1);
        };
        if (name == "aten::mm") product(0, 1);
        if (name == "aten::addmm" || name == "aten::addmm_") product(1, 2);
        return nullptr;
      }).needsInputs(true));
  body();
  at::removeCallback(handle);
  return count;
}

TEST(Clockwork, ComputesActiveModulesAlone) {
  const at::NoGradGuard no_grad;
  constexpr int64_t kLength = 13, kUnits = 8, kSize = 2;
  const std::vector<int64_t> periods{1, 2, 4, 8};
  const at::Tensor x = drawn({2 * kLength, kInputs}, "x");
  int64_t expected = 0;
  for (int64_t m = 0; m < 4; ++m) {
    const int64_t active = (kLength + periods[static_cast<size_t>(m)] - 1) / periods[static_cast<size_t>(m)];
    expected += active * kInputs * kSize + (active - 1) * (kUnits - m * kSize) * kSize;
  }
  const Layer slow = clockwork(kUnits, periods);
  const TimeOrder order = order_of({kLength, kLength});
  EXPECT_EQ(multiplications_of([&] { slow.layer->run(x, order); }), 2 * expected);
  const Layer plain = clockwork(kUnits, {1});
  EXPECT_EQ(multiplications_of([&] { plain.layer->run(x, order); }),
            2 * (kLength * kInputs * kUnits + (kLength - 1) * kUnits * kUnits));
  // One more token at time 13, at which nothing but the first module is active, and at time 16, at which all are.
  const at::Tensor state = at::zeros({1, kUnits}, at::kDouble);
  const at::Tensor one = x.narrow(0, 0, 1);
  const std::vector<int64_t> odd{13}, all{16};
  EXPECT_EQ(multiplications_of([&] { slow.layer->step(one, state, odd); }), (kInputs + kUnits) * kSize);
  EXPECT_EQ(multiplications_of([&] { slow.layer->step(one, state, all); }),
            4 * kInputs * kSize + (8 + 6 + 4 + 2) * kSize);
}

class EveryLayer : public testing::TestWithParam<int> {
 protected:
  Layer made() const {
    return GetParam() == 0 ? clockwork(6, {1, 2, 5}) : GetParam() == 1 ? clockwork(4, {1}) : lstm(3);
  }
};

TEST_P(EveryLayer, HasTheGradientOfFiniteDifferences) {
  Layer layer = made();
  const TimeOrder order = order_of({7, 2, 5, 1});
  const at::Tensor x = drawn({15, kInputs}, "x").requires_grad_(true);
  const at::Tensor weights = drawn({15, layer.layer->state_size()}, "weights");
  const auto loss = [&] { return (layer.layer->run(x, order) * weights).sum(); };
  loss().backward();
  std::vector<std::pair<at::Tensor, at::Tensor>> checked{{x, x.grad()}};
  for (Parameter& parameter : layer.parameters.all()) checked.emplace_back(parameter.value, parameter.gradient);
  const at::NoGradGuard no_grad;
  constexpr double kStep = 1e-6;
  for (const auto& [value, gradient] : checked) {
    const at::Tensor flat = value.view({-1});
    const at::Tensor found = gradient.contiguous().view({-1});
    for (int64_t i = 0; i < flat.numel(); ++i) {
      flat[i] += kStep;
      const double above = loss().item<double>();
      flat[i] -= 2 * kStep;
      const double below = loss().item<double>();
      flat[i] += kStep;
      EXPECT_NEAR(found[i].item<double>(), (above - below) / (2 * kStep), 1e-7) << i;
    }
  }
}

TEST_P(EveryLayer, StepsAsItRuns) {
  const Layer layer = made();
  const at::NoGradGuard no_grad;
  const at::Tensor x = drawn({9, kInputs}, "x");
  const at::Tensor states = layer.layer->run(x, order_of({9}));
  at::Tensor state = at::zeros({1, layer.layer->state_size()}, at::kDouble);
  for (int64_t t = 0; t < 9; ++t) {
    const std::vector<int64_t> times{t};
    state = layer.layer->step(x.narrow(0, t, 1), state, times);
    EXPECT_LT((state[0] - states[t]).abs().max().item<double>(), 1e-12) << t;
  }
}

INSTANTIATE_TEST_SUITE_P(Recurrent, EveryLayer, testing::Values(0, 1, 2));

/// The paper's order, on a short waveform: clocks find it while networks without are still at its mean.
TEST(Waveform, IsLearnedSoonerWithClocks) {
  const std::vector<double> target = draw_waveform(1, 160);
  const WaveformOptions options{.samples = 160, .steps = 80};
  const WaveformFit clocks = fit_waveform("cwrnn", target, options, 1);
  EXPECT_EQ(clocks.samples.size(), 160u);
  EXPECT_NEAR(static_cast<double>(clocks.parameters), 1000, 250);
  for (const char* other : {"rnn", "lstm"}) {
    EXPECT_LT(clocks.error, 0.5 * fit_waveform(other, target, options, 1).error) << other;
  }
}

}  // namespace
}  // namespace lengthwise
