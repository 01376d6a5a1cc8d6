#include "arena/parameters.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "core/error.h"

namespace lengthwise {
namespace {

/// Every parameter starts on a cache line.
constexpr int64_t kAlignment = 16;

/// Pairs of normal numbers that a thread is worth.
constexpr int64_t kPairs = 1 << 15;

int64_t aligned(int64_t count) {
  return (count + kAlignment - 1) / kAlignment * kAlignment;
}

void initialise(Parameter& parameter, const Rng& rng) {
  const Initial& initial = parameter.initial;
  at::NoGradGuard no_grad;
  if (!initial.values.empty()) {
    LENGTHWISE_CHECK(static_cast<int64_t>(initial.values.size()) == parameter.numel(), "{}: {} initial values",
                     parameter.name, initial.values.size());
    parameter.value.copy_(at::tensor(initial.values, at::kDouble).view(parameter.shape));
    return;
  }
  if (initial.blocks.empty()) {
    parameter.value.fill_(initial.constant);
    return;
  }
  int64_t column = 0;
  for (size_t block = 0; block < initial.blocks.size(); ++block) {
    const int64_t columns = initial.blocks[block].columns == 0 ? parameter.shape.back() : initial.blocks[block].columns;
    at::Tensor part = parameter.value.narrow(-1, column, columns);
    at::Tensor numbers = at::empty(part.sizes(), at::kDouble);
    fill_normal(rng.stream(parameter.name).at(block), initial.blocks[block].deviation, numbers.data_ptr<double>(),
                numbers.numel());
    part.copy_(numbers);
    column += columns;
  }
  LENGTHWISE_CHECK(column == parameter.shape.back(), "{}: blocks of {} columns", parameter.name, column);
}

}  // namespace

int64_t Parameter::numel() const {
  return std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies<>());
}

Parameter& Parameters::add(std::string name, std::vector<int64_t> shape, Initial initial, bool decay) {
  LENGTHWISE_CHECK(!values_.defined(), "parameter {} comes after allocate()", name);
  LENGTHWISE_CHECK(names_.insert(name).second, "there is a parameter {} already", name);
  Parameter& parameter = parameters_.emplace_back();
  parameter.name = std::move(name);
  parameter.shape = std::move(shape);
  parameter.initial = std::move(initial);
  parameter.decay = decay;
  count_ += parameter.numel();
  return parameter;
}

Parameter& Parameters::add_product(std::string name, std::vector<int64_t> shape, Initial initial) {
  Parameter& parameter = add(std::move(name), std::move(shape), std::move(initial));
  parameter.product = true;
  return parameter;
}

void Parameters::allocate(at::ScalarType type, const Rng& rng, at::Device device) {
  allocate_zeros(type, device);
  for (Parameter& parameter : parameters_) initialise(parameter, rng);
}

void Parameters::allocate_for(std::optional<uint64_t> seed, at::ScalarType type, at::Device device) {
  if (!seed) return allocate_zeros(type, device);
  allocate(type, Rng(*seed).stream("initial"), device);
}

void Parameters::allocate_zeros(at::ScalarType type, at::Device device) {
  std::vector<Parameter*> order;
  for (Parameter& parameter : parameters_) order.push_back(&parameter);
  std::stable_sort(order.begin(), order.end(), [](const Parameter* a, const Parameter* b) {
    return std::pair(!a->product, !a->decay) < std::pair(!b->product, !b->decay);
  });
  int64_t size = 0;
  for (const Parameter* parameter : order) {
    size += aligned(parameter->numel());
    if (parameter->product) products_ = size;
    if (parameter->decay) decayed_ = size;
  }
  values_ = at::zeros({size}, at::TensorOptions(device).dtype(type));
  gradients_ = at::zeros_like(values_);
  int64_t at = 0;
  for (Parameter* parameter : order) {
    parameter->value = values_.narrow(0, at, parameter->numel()).view(parameter->shape).detach();
    parameter->gradient = gradients_.narrow(0, at, parameter->numel()).view(parameter->shape);
    parameter->value.set_requires_grad(true);
    parameter->value.mutable_grad() = parameter->gradient;
    at += aligned(parameter->numel());
  }
}

void fill_normal(const Rng& rng, double deviation, double* out, int64_t count) {
  // A pair takes a block of the generator.
  at::parallel_for(0, (count + 1) / 2, kPairs, [&](int64_t begin, int64_t end) {
    Rng own = rng;
    own.skip_blocks(static_cast<uint64_t>(begin));
    for (int64_t i = 2 * begin; i < std::min(2 * end, count); i += 2) {
      // 1 - uniform() is in (0, 1], where the logarithm is finite.
      const double radius = deviation * std::sqrt(-2.0 * std::log(1.0 - own.uniform()));
      const double angle = 2.0 * std::numbers::pi * own.uniform();
      out[i] = radius * std::cos(angle);
      if (i + 1 < count) out[i + 1] = radius * std::sin(angle);
    }
  });
}

}  // namespace lengthwise
