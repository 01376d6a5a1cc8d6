#include "recurrent/lstm.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <torch/csrc/autograd/custom_function.h>

#include <cmath>

namespace lengthwise {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

/// Views of the four gates of some rows.
struct Gates {
  at::Tensor in, forget, candidate, out;

  explicit Gates(const at::Tensor& rows) {
    const int64_t units = rows.size(1) / 4;
    in = rows.narrow(1, 0, units);
    forget = rows.narrow(1, units, units);
    candidate = rows.narrow(1, 2 * units, units);
    out = rows.narrow(1, 3 * units, units);
  }
};

/// From sums to gates, in place, and from a state to the next; `before` is undefined at time 0.
void advance(const at::Tensor& sums, const at::Tensor& before, const at::Tensor& now) {
  const Gates gates(sums);
  const int64_t units = gates.in.size(1);
  for (const at::Tensor* gate : {&gates.in, &gates.forget, &gates.out}) gate->sigmoid_();
  gates.candidate.tanh_();
  at::Tensor cell = now.narrow(1, units, units);
  at::mul_out(cell, gates.in, gates.candidate);
  if (before.defined()) cell.addcmul_(gates.forget, before.narrow(1, units, units));
  now.narrow(1, 0, units).copy_(cell.tanh().mul_(gates.out));
}

struct LstmRun : torch::autograd::Function<LstmRun> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x, const at::Tensor& input,
                            const at::Tensor& recurrent, const at::Tensor& bias, const std::vector<int64_t>& counts) {
    const std::vector<int64_t> starts = starts_of(counts);
    const int64_t units = recurrent.size(0);
    const at::Tensor gates = at::addmm(bias, x, input);
    const at::Tensor states = at::empty({x.size(0), 2 * units}, gates.options());
    for (size_t time = 0; time < counts.size(); ++time) {
      const int64_t count = counts[time];
      const at::Tensor sums = gates.narrow(0, starts[time], count);
      const at::Tensor before = time == 0 ? at::Tensor() : states.narrow(0, starts[time - 1], count);
      if (time > 0) sums.addmm_(before.narrow(1, 0, units), recurrent);
      advance(sums, before, states.narrow(0, starts[time], count));
    }
    context->save_for_backward({x, input, recurrent, gates, states});
    context->saved_data["counts"] = counts;
    return states;
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const variable_list saved = context->get_saved_variables();
    const at::Tensor &x = saved[0], &input = saved[1], &recurrent = saved[2], &gates = saved[3], &states = saved[4];
    const std::vector<int64_t> counts = context->saved_data["counts"].toIntVector();
    const std::vector<int64_t> starts = starts_of(counts);
    const int64_t units = recurrent.size(0);
    const at::Tensor cells = states.narrow(1, units, units);
    const at::Tensor bounded = cells.tanh();
    const at::Tensor d_states = gradients[0].clone(at::MemoryFormat::Contiguous);
    const at::Tensor d_sums = at::empty_like(gates);
    std::vector<int64_t> before_rows;
    for (size_t time = counts.size(); time-- > 0;) {
      const int64_t count = counts[time];
      const auto at_time = [&](const at::Tensor& all) { return all.narrow(0, starts[time], count); };
      const Gates gate(at_time(gates));
      const Gates d_gate(at_time(d_sums));
      const at::Tensor d_h = at_time(d_states).narrow(1, 0, units);
      const at::Tensor d_c = at_time(d_states).narrow(1, units, units);
      const at::Tensor squashed = at_time(bounded);
      d_c.add_(at::tanh_backward(d_h * gate.out, squashed));
      const auto through_sigmoid = [](at::Tensor to, const at::Tensor& d, const at::Tensor& value) {
        at::sigmoid_backward_out(to, d, value);
      };
      through_sigmoid(d_gate.out, d_h * squashed, gate.out);
      through_sigmoid(d_gate.in, d_c * gate.candidate, gate.in);
      at::Tensor d_candidate = d_gate.candidate;
      at::tanh_backward_out(d_candidate, d_c * gate.in, gate.candidate);
      if (time == 0) {
        d_gate.forget.zero_();
        break;
      }
      const at::Tensor before = d_states.narrow(0, starts[time - 1], count);
      through_sigmoid(d_gate.forget, d_c * cells.narrow(0, starts[time - 1], count), gate.forget);
      before.narrow(1, units, units).addcmul_(d_c, gate.forget);
      before.narrow(1, 0, units).addmm_(at_time(d_sums), recurrent.t());
    }
    for (size_t time = 1; time < counts.size(); ++time) {
      for (int64_t i = 0; i < counts[time]; ++i) before_rows.push_back(starts[time - 1] + i);
    }
    const at::Tensor read =
        states.narrow(1, 0, units).index_select(0, at::tensor(before_rows, at::kLong).to(x.device()));
    const at::Tensor later = d_sums.narrow(0, counts[0], std::ssize(before_rows));
    return {at::mm(d_sums, input.t()), at::mm(x.t(), d_sums), at::mm(read.t(), later), d_sums.sum(0), at::Tensor()};
  }
};

}  // namespace

LstmLayer::LstmLayer(Parameters& parameters, const std::string& prefix, int64_t inputs, int64_t units) : units_(units) {
  const auto rsqrt = [](int64_t x) { return 1.0 / std::sqrt(static_cast<double>(x)); };
  input_ = &parameters.add_product(prefix + "input", {inputs, 4 * units}, Initial::normal(rsqrt(inputs)));
  recurrent_ = &parameters.add_product(prefix + "recurrent", {units, 4 * units}, Initial::normal(rsqrt(units)));
  std::vector<double> biases(static_cast<size_t>(4 * units), 0.0);
  std::fill(biases.begin() + units, biases.begin() + 2 * units, 1.0);
  bias_ = &parameters.add(prefix + "bias", {4 * units}, Initial::given(std::move(biases)));
}

at::Tensor LstmLayer::run(const at::Tensor& x, const TimeOrder& order) const {
  return LstmRun::apply(x, input_->value, recurrent_->value, bias_->value, order.counts);
}

at::Tensor LstmLayer::step(const at::Tensor& x, const at::Tensor& state, std::span<const int64_t>) const {
  const at::NoGradGuard no_grad;
  const at::Tensor sums = at::addmm(bias_->value, x, input_->value);
  sums.addmm_(state.narrow(1, 0, units_), recurrent_->value);
  const at::Tensor next = at::empty_like(state);
  advance(sums, state, next);
  return next;
}

}  // namespace lengthwise
