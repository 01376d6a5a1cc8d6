#include "recurrent/waveform.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <cmath>
#include <numbers>

#include "core/error.h"
#include "kernels/adamw.h"
#include "recurrent/clockwork.h"
#include "recurrent/lstm.h"

namespace lengthwise {
namespace {

class Generator {
 public:
  Generator(const std::string& network, int64_t units, const std::vector<int64_t>& periods) {
    if (network == "lstm") {
      layer_ = std::make_unique<LstmLayer>(parameters_, "", 1, units);
    } else {
      const std::vector<int64_t> clocks = network == "cwrnn" ? periods : std::vector<int64_t>{1};
      layer_ = std::make_unique<ClockworkLayer>(parameters_, "", 1, units, clocks);
    }
    out_ = &parameters_.add("out", {units, 1}, Initial::normal(1.0 / std::sqrt(static_cast<double>(units))));
    bias_ = &parameters_.add("out.bias", {1}, Initial::all(0));
  }

  Parameters& parameters() { return parameters_; }

  /// [sample]
  at::Tensor samples(const TimeOrder& order) const {
    const at::Tensor constant = at::ones({order.times(), 1}, parameters_.values().options().requires_grad(false));
    const at::Tensor states = layer_->run(constant, order).narrow(1, 0, layer_->units());
    return at::addmm(bias_->value, states, out_->value).squeeze(1);
  }

 private:
  Parameters parameters_;
  std::unique_ptr<RecurrentLayer> layer_;
  Parameter* out_;
  Parameter* bias_;
};

/// Units, in steps of one for each module, whose parameters come nearest to the wanted number.
int64_t units_for(const std::string& network, const WaveformOptions& options) {
  const int64_t step = network == "cwrnn" ? std::ssize(options.periods) : 1;
  const auto distance = [&](int64_t units) {
    return std::abs(Generator(network, units, options.periods).parameters().count() - options.parameters);
  };
  int64_t units = step;
  while (distance(units + step) < distance(units)) units += step;
  return units;
}

}  // namespace

std::vector<double> draw_waveform(uint64_t seed, int64_t samples) {
  constexpr int kWaves = 5;
  Rng rng = Rng(seed).stream("waveform");
  const auto uniform = [&](double low, double high) {
    return low + (high - low) * static_cast<double>(rng.next64() >> 11) * 0x1p-53;
  };
  std::vector<double> values(static_cast<size_t>(samples), 0.0);
  for (int wave = 0; wave < kWaves; ++wave) {
    const double period = 8 * std::pow(20.0, uniform(0, 1));  // 8 to 160 samples
    const double phase = uniform(0, 2 * std::numbers::pi);
    const double size = uniform(0.3, 1);
    const double swell = uniform(80, 320), swell_phase = uniform(0, 2 * std::numbers::pi);
    for (size_t t = 0; t < values.size(); ++t) {
      const auto time = 2 * std::numbers::pi * static_cast<double>(t);
      values[t] += size * std::sin(time / period + phase) * (1 + 0.5 * std::sin(time / swell + swell_phase));
    }
  }
  double most = 0;
  for (const double value : values) most = std::max(most, std::abs(value));
  for (double& value : values) value /= most;
  return values;
}

std::vector<std::string> waveform_networks() {
  return {"cwrnn", "rnn", "lstm"};
}

WaveformFit fit_waveform(const std::string& network, const std::vector<double>& target, const WaveformOptions& options,
                         uint64_t seed, const std::function<void(int64_t)>& progress) {
  WaveformFit fit;
  fit.units = units_for(network, options);
  Generator generator(network, fit.units, options.periods);
  Parameters& parameters = generator.parameters();
  parameters.allocate(at::kFloat, Rng(seed).stream(network));
  fit.parameters = parameters.count();
  const TimeOrder order = time_order(at::tensor({int64_t{0}, std::ssize(target)}, at::kLong));
  const at::Tensor wanted = at::tensor(target, at::kFloat);
  const double variance = (wanted - wanted.mean()).square().mean().item<double>();
  at::Tensor first = at::zeros_like(parameters.values());
  at::Tensor second = at::zeros_like(parameters.values());
  at::Tensor values = parameters.values();
  at::Tensor gradients = parameters.gradients();
  const auto error = [&] { return (generator.samples(order) - wanted).square().mean() / variance; };
  for (int64_t step = 0; step < options.steps; ++step) {
    error().backward();
    const double norm = arena_norm(gradients);
    if (!std::isfinite(norm)) fail("the network {} no longer learns at step {}; a lower --lr helps", network, step + 1);
    const double left = 1 - static_cast<double>(step) / static_cast<double>(options.steps);
    adamw_update(values, gradients, first, second, 0,
                 {.step = step + 1,
                  .lr = options.lr * left,
                  .beta1 = 0.9,
                  .beta2 = 0.99,
                  .epsilon = 1e-8,
                  .weight_decay = 0,
                  .gradient_scale = norm > 1 ? 1 / norm : 1});
    if (progress) progress(step + 1);
  }
  const at::NoGradGuard no_grad;
  fit.error = error().item<double>();
  const at::Tensor samples = generator.samples(order).to(at::kDouble).contiguous();
  fit.samples.assign(samples.const_data_ptr<double>(), samples.const_data_ptr<double>() + samples.numel());
  return fit;
}

}  // namespace lengthwise
