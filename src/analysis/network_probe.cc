#include "analysis/network_probe.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <array>
#include <cmath>
#include <vector>

#include "arena/parameters.h"
#include "core/rng.h"

namespace lengthwise {
namespace {

constexpr int64_t kChunk = 2048;    ///< rows that are looked at together
constexpr int64_t kLookEvery = 50;  ///< steps between looks at the rows that choose
constexpr double kMean = 0.9, kSquare = 0.999, kEpsilon = 1e-8;

at::Tensor drawn(const Rng& rng, std::vector<int64_t> shape, double deviation, at::Device device) {
  at::Tensor values = at::empty(shape, at::kDouble);
  fill_normal(rng, deviation, values.data_ptr<double>(), values.numel());
  return values.to(at::kFloat).to(device);
}

/// Adam's moments of one tensor.
struct Moments {
  at::Tensor mean, square;

  explicit Moments(const at::Tensor& like) : mean(at::zeros_like(like)), square(at::zeros_like(like)) {}

  void update(at::Tensor& value, const at::Tensor& gradient, double rate, int64_t step) {
    mean.mul_(kMean).add_(gradient, 1 - kMean);
    square.mul_(kSquare).addcmul_(gradient, gradient, 1 - kSquare);
    const double by_mean = 1 - std::pow(kMean, static_cast<double>(step));
    const double by_square = 1 - std::pow(kSquare, static_cast<double>(step));
    value.addcdiv_(mean, (square / by_square).sqrt_().add_(kEpsilon), -rate / by_mean);
  }
};

}  // namespace

at::Tensor NetworkProbes::scaled(const at::Tensor& rows) const {
  return (features_(rows) - mean_) * scale_;
}

at::Tensor NetworkProbes::hidden(const at::Tensor& scaled, const Weights& weights) const {
  return at::relu(at::baddbmm(weights.b1, scaled, weights.w1));
}

at::Tensor NetworkProbes::error(const at::Tensor& rows, const at::Tensor& scaled_labels, const Weights& weights) const {
  at::Tensor sum;
  for (int64_t begin = 0; begin < rows.size(0); begin += kChunk) {
    const int64_t count = std::min(kChunk, rows.size(0) - begin);
    const at::Tensor part = rows.narrow(0, begin, count);
    const at::Tensor out = at::baddbmm(weights.b2, hidden(scaled(part), weights), weights.w2).squeeze(-1);
    const at::Tensor squares = (out - scaled_labels.index_select(0, part)).square().sum(1);
    sum = sum.defined() ? sum + squares : squares;
  }
  return sum;
}

NetworkProbes::NetworkProbes(const FeatureRows& features, const at::Tensor& labels, const at::Tensor& fit,
                             const at::Tensor& choose, const NetworkOptions& options)
    : features_(features) {
  const at::NoGradGuard no_grad;
  const int64_t rows = fit.size(0);
  at::Tensor sum, squares;
  for (int64_t begin = 0; begin < rows; begin += kChunk) {
    const at::Tensor x = features(fit.narrow(0, begin, std::min(kChunk, rows - begin))).to(at::kDouble);
    sum = sum.defined() ? sum + x.sum(1, true) : x.sum(1, true);
    squares = squares.defined() ? squares + x.square().sum(1, true) : x.square().sum(1, true);
  }
  const at::Tensor mean = sum / rows;
  const at::Tensor deviation = (squares / rows - mean.square()).clamp_min(0).sqrt();
  const at::Tensor varies = deviation > 1e-6 * (mean.abs() + 1e-30);
  mean_ = mean.to(at::kFloat);
  scale_ = at::where(varies, deviation.reciprocal(), at::zeros_like(deviation)).to(at::kFloat);
  const at::Tensor fit_labels = labels.index_select(0, fit).to(at::kDouble);
  label_mean_ = fit_labels.mean().item<double>();
  label_deviation_ = std::max(1e-12, (fit_labels - label_mean_).square().mean().sqrt().item<double>());
  const at::Tensor wanted = ((labels.to(at::kDouble) - label_mean_) / label_deviation_).to(at::kFloat);

  const int64_t probes = mean_.size(0);
  const int64_t width = mean_.size(2);
  const at::Device device = mean_.device();
  const Rng rng = Rng(options.seed).stream("network-probe");
  Weights now{
      drawn(rng.stream("w1"), {probes, width, options.hidden}, std::sqrt(2.0 / static_cast<double>(width)), device),
      at::zeros({probes, 1, options.hidden}, mean_.options()),
      drawn(rng.stream("w2"), {probes, options.hidden, 1}, std::sqrt(1.0 / static_cast<double>(options.hidden)),
            device),
      at::zeros({probes, 1, 1}, mean_.options())};
  const std::array<at::Tensor*, 4> values{&now.w1, &now.b1, &now.w2, &now.b2};
  std::vector<Moments> moments;
  for (const at::Tensor* value : values) moments.emplace_back(*value);

  at::Tensor least;
  const auto look = [&] {
    const at::Tensor errors = error(choose, wanted, now);
    if (!least.defined()) {
      best_ = {now.w1.clone(), now.b1.clone(), now.w2.clone(), now.b2.clone()};
      least = errors;
      return;
    }
    const at::Tensor better = (errors < least).view({probes, 1, 1});
    best_ = {at::where(better, now.w1, best_.w1), at::where(better, now.b1, best_.b1),
             at::where(better, now.w2, best_.w2), at::where(better, now.b2, best_.b2)};
    least = at::minimum(errors, least);
  };
  look();
  Rng order = rng.stream("order");
  std::vector<int64_t> picked(static_cast<size_t>(std::min(options.batch, rows)));
  for (int64_t step = 1; step <= options.steps; ++step) {
    for (int64_t& pick : picked) pick = static_cast<int64_t>(order.below(static_cast<uint64_t>(rows)));
    const at::Tensor batch = fit.index_select(0, at::tensor(picked, at::kLong).to(fit.device()));
    const at::Tensor x = scaled(batch);
    const at::Tensor h = hidden(x, now);
    const at::Tensor out = at::baddbmm(now.b2, h, now.w2);
    const at::Tensor d_out =
        (out - wanted.index_select(0, batch).view({1, -1, 1})) * (2.0 / static_cast<double>(batch.size(0)));
    const at::Tensor d_h = at::bmm(d_out, now.w2.transpose(1, 2)) * (h > 0);
    const std::array<at::Tensor, 4> gradients{at::bmm(x.transpose(1, 2), d_h), d_h.sum(1, true),
                                              at::bmm(h.transpose(1, 2), d_out), d_out.sum(1, true)};
    const double rate = options.rate * (1 - static_cast<double>(step - 1) / static_cast<double>(options.steps));
    for (size_t i = 0; i < values.size(); ++i) moments[i].update(*values[i], gradients[i], rate, step);
    if (step % kLookEvery == 0 || step == options.steps) look();
  }
}

at::Tensor NetworkProbes::predict(const at::Tensor& rows) const {
  const at::NoGradGuard no_grad;
  std::vector<at::Tensor> parts;
  for (int64_t begin = 0; begin < rows.size(0); begin += kChunk) {
    const at::Tensor part = rows.narrow(0, begin, std::min(kChunk, rows.size(0) - begin));
    parts.push_back(at::baddbmm(best_.b2, hidden(scaled(part), best_), best_.w2).squeeze(-1));
  }
  return at::cat(parts, 1).to(at::kDouble) * label_deviation_ + label_mean_;
}

}  // namespace lengthwise
