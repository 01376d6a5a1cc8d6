/// What a decoder without positional encoding cannot do, whatever its weights.
///
///     constant-sequence   a a a ... a without a first token: all states are equal in every layer, so every head's
///                         weights are 1/t and no gradient reaches queries and keys; RoPE has neither limit
///     first-layer         [first, x, x]: both x have the same key, so the last token cannot give itself more than it
///                         gives its neighbour: less than one half
#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <torch/csrc/autograd/autograd.h>

#include <cmath>

#include "core/rng.h"
#include "model/inspect.h"
#include "model/plain_decoder.h"
#include "theory/construction.h"
#include "theory/position_code.h"

namespace lengthwise {
namespace {

/// Largest gradient of the loss with respect to queries' and keys' weights, and to those of values.
std::pair<double, double> projection_gradients(Decoder& decoder, const Batch& batch) {
  decoder.parameters().gradients().zero_();
  plain_loss(decoder, batch).backward();
  const int64_t inner = decoder.config().heads * decoder.config().head_dim;
  double scores = 0;
  double values = 0;
  for (int64_t layer = 0; layer < decoder.config().layers; ++layer) {
    const at::Tensor gradient = decoder.layer(layer).qkv->gradient.abs();
    scores = std::max(scores, gradient.narrow(1, 0, 2 * inner).max().item<double>());
    values = std::max(values, gradient.narrow(1, 2 * inner, inner).max().item<double>());
  }
  return {scores, values};
}

/// Weight of the last of [first, x, x] on itself in the first layer; the largest over heads.
double weight_on_itself(const Decoder& decoder, int64_t token) {
  double largest = 0;
  Inspection inspection;
  inspection.layers = 1;
  inspection.attention = [&](const AttentionRows& rows) {
    largest = rows.weights.select(1, 2).select(1, 2).max().item<double>();
  };
  inspect(decoder, single_sequence({kFirstToken, token, token}), inspection);
  return largest;
}

}  // namespace

std::vector<Finding> measure_constant(const TheoryOptions& options) {
  std::vector<Finding> findings;
  const int64_t length = std::min<int64_t>(options.length, 256);
  for (const char* encoding : {"nope", "rope"}) {
    const auto decoder = make_theory_decoder({.decoder = "tiny", .encoding = encoding, .rotary_fraction = 1}, length);
    const Batch batch = single_sequence(std::vector<int64_t>(static_cast<size_t>(length), kFirstToken + 1));
    double error = 0;
    Inspection inspection;
    inspection.attention = [&](const AttentionRows& rows) {
      const at::Tensor seen =
          at::arange(rows.first_query + 1, rows.first_query + rows.q.size(1) + 1, at::TensorOptions(at::kDouble));
      const at::Tensor uniform = at::ones_like(rows.weights).tril(rows.first_query) / seen.unsqueeze(1);
      error = std::max(error, (rows.weights - uniform).abs().max().item<double>());
    };
    inspect(*decoder, batch, inspection);
    const auto [scores, values] = projection_gradients(*decoder, batch);
    const bool nope = std::string(encoding) == "nope";
    Finding finding{.construction = "constant-sequence",
                    .decoder = std::string("tiny, random weights, ") + encoding,
                    .length = length,
                    .precision = "fp64",
                    .max_error = error};
    finding.values = {{"query_key_gradient", scores}, {"value_gradient", values}};
    finding.as_predicted = nope ? error < 1e-12 && scores < 1e-12 * values : error > 1e-4 && scores > 1e-6 * values;
    finding.note = nope ? "weights are 1/t, queries and keys get no gradient" : "not so under RoPE";
    findings.push_back(finding);
  }
  return findings;
}

std::vector<Finding> measure_first_layer(const TheoryOptions&) {
  constexpr int kDraws = 200;
  double largest = 0;
  const auto decoder = make_theory_decoder({.decoder = "norm-free"}, 3);
  for (int draw = 0; draw < kDraws; ++draw) {
    const at::NoGradGuard no_grad;
    Rng rng = Rng(static_cast<uint64_t>(draw)).stream("heads");
    for (Parameter& parameter : decoder->parameters().all()) {
      std::vector<double> numbers(static_cast<size_t>(parameter.numel()));
      // From flat heads to very sharp ones.
      fill_normal(rng.stream(parameter.name), std::pow(10.0, draw % 5 - 2), numbers.data(), parameter.numel());
      parameter.value.copy_(at::tensor(numbers, at::TensorOptions(at::kDouble)).view(parameter.shape));
    }
    largest = std::max(largest, weight_on_itself(*decoder, kFirstToken + 1));
  }
  // The best there is: the first token is not looked at.
  constexpr double kAversion = 20;
  write_positions(*decoder, kFirstToken, {{code_dims::position, {1, 2, 3}}});
  set_projection(*decoder, 0, 0, Projection::query, {{code_dims::one, 0, kAversion}});
  set_projection(*decoder, 0, 0, Projection::key, {{code_dims::first, 0, -1}});
  const double built = weight_on_itself(*decoder, kFirstToken + 1);
  Finding finding{.construction = "first-layer",
                  .decoder = "norm-free",
                  .length = 3,
                  .precision = "fp64",
                  .max_error = std::abs(built - 1 / (2 + std::exp(-kAversion)))};
  finding.values = {{"largest_of_random", largest}, {"largest_built", built}};
  finding.as_predicted = largest < 0.5 && built < 0.5 && finding.max_error < 1e-12;
  finding.note = "weight of the last of [first, x, x] on itself";
  return {finding};
}

}  // namespace lengthwise
