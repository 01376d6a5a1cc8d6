/// What a decoder without positional encoding cannot do, whatever its weights.
///
///     constant-sequence   a a a ... a without a first token: all states are equal in every layer, so every head's
///                         weights are 1/t, and nothing that depends on weights alone (here the mean distance that
///                         is attended) has a gradient in queries and keys; RoPE has neither limit. The loss has no
///                         such gradient under either: a mean of equal values is the same with any weights
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

/// Largest gradient in the weights of queries and keys, over all layers.
double query_key_gradient(Decoder& decoder, const at::Tensor& of) {
  decoder.parameters().gradients().zero_();
  of.backward();
  const int64_t inner = decoder.config().heads * decoder.config().head_dim;
  double largest = 0;
  for (int64_t layer = 0; layer < decoder.config().layers; ++layer) {
    largest = std::max(largest, decoder.layer(layer).qkv->gradient.narrow(1, 0, 2 * inner).abs().max().item<double>());
  }
  return largest;
}

/// Summed over heads and layers, the distance that is attended in the mean over queries.
at::Tensor attended_distance(const Decoder& decoder, const Batch& batch) {
  at::Tensor sum = at::zeros({}, at::TensorOptions(at::kDouble));
  plain_logits(decoder, batch, {}, [&](int64_t, const at::Tensor&, const AttentionView& attention) {
    const at::Tensor place = at::arange(batch.longest, at::TensorOptions(at::kDouble));
    const at::Tensor distance = (place.unsqueeze(1) - place.unsqueeze(0)).tril();
    sum = sum + (attention.weights * distance).sum() / static_cast<double>(batch.longest);
  });
  return sum;
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
    const double by_weights = query_key_gradient(*decoder, attended_distance(*decoder, batch));
    const double by_loss = query_key_gradient(*decoder, plain_loss(*decoder, batch));
    const bool nope = std::string(encoding) == "nope";
    Finding finding{.construction = "constant-sequence",
                    .decoder = std::string("tiny, random weights, ") + encoding,
                    .length = length,
                    .precision = "fp64",
                    .max_error = error};
    finding.values = {{"gradient_of_distance", by_weights}, {"gradient_of_loss", by_loss}};
    finding.as_predicted =
        by_loss < 1e-12 && (nope ? error < 1e-12 && by_weights < 1e-12 : error > 1e-4 && by_weights > 1e-3);
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
  // Where the first token gets less than the last bit, rounding makes it one half.
  finding.as_predicted = largest <= 0.5 && built < 0.5 && finding.max_error < 1e-12;
  finding.note = "weight of the last of [first, x, x] on itself";
  return {finding};
}

}  // namespace

extern const Construction kConstantSequence = {
    "constant-sequence", "NoPE on one repeated token: uniform attention in every head", measure_constant};
extern const Construction kFirstLayer = {"first-layer", "NoPE's first layer: under half of the weight on the diagonal",
                                         measure_first_layer};

}  // namespace lengthwise
