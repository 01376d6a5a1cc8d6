#include "recurrent/clockwork.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <torch/csrc/autograd/custom_function.h>

#include <cmath>

#include "core/error.h"
#include "recurrent/periods.h"

namespace lengthwise {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

/// Where a module works: rows of all times at which it is active.
struct ActiveRows {
  std::vector<int64_t> first;  ///< [time] its first row among them; -1: it rests
  at::Tensor rows;             ///< [active] int64: rows of the time order
  at::Tensor before;           ///< [active later than at time 0] int64: the same sequences one time earlier
};

ActiveRows active_rows(int64_t period, const std::vector<int64_t>& counts, at::Device device) {
  ActiveRows active;
  const std::vector<int64_t> starts = starts_of(counts);
  std::vector<int64_t> rows, before;
  for (size_t time = 0; time < counts.size(); ++time) {
    const bool works = ticks(period, static_cast<int64_t>(time));
    active.first.push_back(works ? std::ssize(rows) : -1);
    for (int64_t i = 0; works && i < counts[time]; ++i) {
      rows.push_back(starts[time] + i);
      if (time > 0) before.push_back(starts[time - 1] + i);
    }
  }
  active.rows = at::tensor(rows, at::kLong).to(device);
  active.before = at::tensor(before, at::kLong).to(device);
  return active;
}

/// A layer's pass over all times. The last inputs are the recurrent weights by module.
struct ClockworkRun : torch::autograd::Function<ClockworkRun> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x, const at::Tensor& input,
                            const at::Tensor& bias, at::TensorList recurrent, const std::vector<int64_t>& counts,
                            const std::vector<int64_t>& periods) {
    const int64_t size = bias.size(0) / std::ssize(periods);
    const std::vector<int64_t> starts = starts_of(counts);
    std::vector<ActiveRows> active;
    std::vector<at::Tensor> sums;  // by module: of the inputs first, then of the state too
    for (size_t m = 0; m < periods.size(); ++m) {
      const int64_t from = static_cast<int64_t>(m) * size;
      active.push_back(active_rows(periods[m], counts, x.device()));
      const at::Tensor seen = periods[m] == 1 ? x : x.index_select(0, active[m].rows);
      sums.push_back(at::addmm(bias.narrow(0, from, size), seen, input.narrow(1, from, size)));
    }
    const at::Tensor states = at::empty({x.size(0), bias.size(0)}, x.options().requires_grad(false));
    for (size_t time = 0; time < counts.size(); ++time) {
      const int64_t count = counts[time];
      const at::Tensor now = states.narrow(0, starts[time], count);
      const at::Tensor before = time == 0 ? at::Tensor() : states.narrow(0, starts[time - 1], count);
      if (time > 0) now.copy_(before);
      for (size_t m = 0; m < periods.size(); ++m) {
        if (active[m].first[time] < 0) continue;
        const int64_t from = static_cast<int64_t>(m) * size;
        at::Tensor sum = sums[m].narrow(0, active[m].first[time], count);
        if (time > 0) sum.addmm_(before.narrow(1, from, bias.size(0) - from), recurrent[m]);
        at::Tensor to = now.narrow(1, from, size);
        at::tanh_out(to, sum);
      }
    }
    variable_list saved{x, input, states};
    saved.insert(saved.end(), recurrent.begin(), recurrent.end());
    context->save_for_backward(std::move(saved));
    context->saved_data["counts"] = counts;
    context->saved_data["periods"] = periods;
    return states;
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const variable_list saved = context->get_saved_variables();
    const at::Tensor &x = saved[0], &input = saved[1], &states = saved[2];
    const std::vector<int64_t> counts = context->saved_data["counts"].toIntVector();
    const std::vector<int64_t> periods = context->saved_data["periods"].toIntVector();
    const std::vector<int64_t> starts = starts_of(counts);
    const int64_t units = states.size(1);
    const int64_t size = units / std::ssize(periods);
    std::vector<ActiveRows> active;
    std::vector<at::Tensor> d_sums;
    for (const int64_t period : periods) {
      active.push_back(active_rows(period, counts, x.device()));
      d_sums.push_back(at::empty({active.back().rows.size(0), size}, states.options()));
    }
    const at::Tensor d_states = gradients[0].clone(at::MemoryFormat::Contiguous);
    for (size_t time = counts.size(); time-- > 0;) {
      const int64_t count = counts[time];
      const at::Tensor now = d_states.narrow(0, starts[time], count);
      const at::Tensor before = time == 0 ? at::Tensor() : d_states.narrow(0, starts[time - 1], count);
      for (size_t m = 0; m < periods.size(); ++m) {
        const int64_t from = static_cast<int64_t>(m) * size;
        const at::Tensor its = now.narrow(1, from, size);
        if (active[m].first[time] < 0) {
          before.narrow(1, from, size).add_(its);
          continue;
        }
        at::Tensor d_sum = d_sums[m].narrow(0, active[m].first[time], count);
        at::tanh_backward_out(d_sum, its, states.narrow(0, starts[time], count).narrow(1, from, size));
        if (time > 0) before.narrow(1, from, units - from).addmm_(d_sum, saved[3 + m].t());
      }
    }
    at::Tensor d_x = at::zeros_like(x);
    const at::Tensor d_input = at::empty_like(input);
    std::vector<at::Tensor> d_bias;
    variable_list d_recurrent;
    for (size_t m = 0; m < periods.size(); ++m) {
      const int64_t from = static_cast<int64_t>(m) * size;
      at::Tensor d_columns = d_input.narrow(1, from, size);
      const at::Tensor weights = input.narrow(1, from, size);
      if (periods[m] == 1) {
        d_columns.copy_(at::mm(x.t(), d_sums[m]));
        d_x.addmm_(d_sums[m], weights.t());
      } else {
        d_columns.copy_(at::mm(x.index_select(0, active[m].rows).t(), d_sums[m]));
        d_x.index_add_(0, active[m].rows, at::mm(d_sums[m], weights.t()));
      }
      d_bias.push_back(d_sums[m].sum(0));
      const at::Tensor later = d_sums[m].narrow(0, counts[0], active[m].before.size(0));
      const at::Tensor read = states.narrow(1, from, units - from).index_select(0, active[m].before);
      d_recurrent.push_back(at::mm(read.t(), later));
    }
    variable_list result{d_x, d_input, at::cat(d_bias)};
    result.insert(result.end(), d_recurrent.begin(), d_recurrent.end());
    result.resize(result.size() + 2);  // counts and periods
    return result;
  }
};

}  // namespace

ClockworkLayer::ClockworkLayer(Parameters& parameters, const std::string& prefix, int64_t inputs, int64_t units,
                               std::vector<int64_t> periods)
    : units_(units), periods_(std::move(periods)) {
  const int64_t modules = std::ssize(periods_);
  LENGTHWISE_CHECK(modules > 0 && units % modules == 0, "{} units for {} modules", units, modules);
  const auto rsqrt = [](int64_t x) { return 1.0 / std::sqrt(static_cast<double>(x)); };
  const int64_t size = units / modules;
  input_ = &parameters.add_product(prefix + "input", {inputs, units}, Initial::normal(rsqrt(inputs)));
  bias_ = &parameters.add(prefix + "bias", {units}, Initial::all(0));
  for (int64_t m = 0; m < modules; ++m) {
    const int64_t read = units - m * size;
    recurrent_.push_back(
        &parameters.add_product(fmt::format("{}recurrent.{}", prefix, m), {read, size}, Initial::normal(rsqrt(read))));
  }
}

at::Tensor ClockworkLayer::run(const at::Tensor& x, const TimeOrder& order) const {
  variable_list recurrent;
  for (const Parameter* parameter : recurrent_) recurrent.push_back(parameter->value);
  return ClockworkRun::apply(x, input_->value, bias_->value, at::TensorList(recurrent), order.counts, periods_);
}

at::Tensor ClockworkLayer::step(const at::Tensor& x, const at::Tensor& state, std::span<const int64_t> times) const {
  const at::NoGradGuard no_grad;
  const int64_t size = units_ / std::ssize(periods_);
  const at::Tensor next = state.clone();
  for (size_t m = 0; m < periods_.size(); ++m) {
    std::vector<int64_t> working;
    for (size_t row = 0; row < times.size(); ++row) {
      if (ticks(periods_[m], times[row])) working.push_back(static_cast<int64_t>(row));
    }
    if (working.empty()) continue;
    const int64_t from = static_cast<int64_t>(m) * size;
    const at::Tensor rows = at::tensor(working, at::kLong).to(x.device());
    const at::Tensor sum =
        at::addmm(bias_->value.narrow(0, from, size), x.index_select(0, rows), input_->value.narrow(1, from, size));
    sum.addmm_(state.narrow(1, from, units_ - from).index_select(0, rows), recurrent_[m]->value);
    next.narrow(1, from, size).index_copy_(0, rows, sum.tanh());
  }
  return next;
}

}  // namespace lengthwise
