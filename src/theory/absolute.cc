/// Absolute positions after the first layer, and what becomes of them without one of their conditions.
///
///     absolute      residual[position] = t
///     no-mask       attention sees all T tokens: every token is told T
///     no-first      nothing to count from: 1/t becomes 0, and the piecewise linear function ends at its value there
///     first-twice   attention sees two flags: 2/t from the second one on, so that an even t is told t/2
///     norm-added    the same weights with RMSNorm: the flag is divided by r_0 and the feed-forward's result by r_t
#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <cmath>

#include "model/inspect.h"
#include "theory/construction.h"
#include "theory/position_code.h"

namespace lengthwise {
namespace {

std::vector<double> counted(int64_t length) {
  std::vector<double> values;
  for (int64_t t = 1; t <= length; ++t) values.push_back(static_cast<double>(t));
  return values;
}

/// The dim `position` of every token after the first layer.
std::vector<double> positions_of(const Decoder& decoder, const std::vector<int64_t>& tokens,
                                 const std::string& precision, bool causal = true) {
  std::vector<double> values;
  Inspection inspection;
  inspection.layers = 1;
  inspection.causal = causal;
  inspection.layer = [&](const LayerView& view) {
    const at::Tensor column = view.after.select(1, code_dims::position).to(at::kDouble).contiguous();
    values.assign(column.const_data_ptr<double>(), column.const_data_ptr<double>() + column.numel());
  };
  inspect(decoder, single_sequence(tokens), inspection, arithmetic_of_theory(precision));
  return values;
}

double largest_difference(const std::vector<double>& a, const std::vector<double>& b) {
  double largest = 0;
  for (size_t i = 0; i < a.size(); ++i) largest = std::max(largest, std::abs(a[i] - b[i]));
  return largest;
}

std::unique_ptr<Decoder> counting_decoder(const std::string& name, const std::string& precision, int64_t length) {
  std::unique_ptr<Decoder> decoder = make_theory_decoder({.decoder = name, .precision = precision}, length);
  write_positions(*decoder, kFirstToken, {{code_dims::position, counted(length)}});
  return decoder;
}

Finding finding(const char* construction, const std::string& decoder, int64_t length, const std::string& precision,
                const std::vector<double>& found, const std::vector<double>& predicted) {
  Finding result;
  result.construction = construction;
  result.decoder = decoder;
  result.length = length;
  result.precision = precision;
  result.max_error = largest_difference(found, counted(length));
  const double from_prediction = largest_difference(found, predicted);
  result.values = {{"from_prediction", from_prediction}};
  result.as_predicted = from_prediction <= expected_error(precision, length);
  return result;
}

/// a + sum c_j relu(1/j - u) - u / 1 with the values of `counted`: what the norm-free first layer makes of u instead of
/// 1/t, residual included.
double counted_from(double u, int64_t length) {
  // y_t = t - 1/t has slopes -(t (t + 1) + 1): c_1 = 3 and c_j = 2 j; a = 0.
  double value = u;
  for (int64_t j = 1; j < length; ++j) {
    const auto place = static_cast<double>(j);
    value += (j == 1 ? 3 : 2 * place) * std::max(0.0, 1 / place - u);
  }
  return value;
}

}  // namespace

std::vector<Finding> measure_absolute(const TheoryOptions& options) {
  std::vector<Finding> findings;
  for (const std::string& name : options.decoders) {
    for (const std::string& precision : options.precisions) {
      if (!has_room(name, options.length)) continue;
      const auto decoder = counting_decoder(name, precision, options.length);
      const std::vector<int64_t> tokens = random_sequence(options.length, decoder->config().vocab_rows, 1);
      const std::vector<double> found = positions_of(*decoder, tokens, precision);
      Finding result = finding("absolute", name, options.length, precision, found, counted(options.length));
      // How far the position can be told from its neighbours.
      int64_t told = 0;
      while (told < options.length && std::abs(found[static_cast<size_t>(told)] - static_cast<double>(told + 1)) < 0.5)
        ++told;
      result.values.emplace_back("told_apart_up_to", static_cast<double>(told));
      findings.push_back(result);
    }
  }
  return findings;
}

std::vector<Finding> measure_no_mask(const TheoryOptions& options) {
  const auto decoder = counting_decoder("norm-free", "fp64", options.length);
  const std::vector<int64_t> tokens = random_sequence(options.length, decoder->config().vocab_rows, 2);
  const std::vector<double> predicted(tokens.size(), static_cast<double>(options.length));
  return {finding("no-mask", "norm-free", options.length, "fp64", positions_of(*decoder, tokens, "fp64", false),
                  predicted)};
}

std::vector<Finding> measure_no_first(const TheoryOptions& options) {
  const auto decoder = counting_decoder("norm-free", "fp64", options.length);
  std::vector<int64_t> tokens = random_sequence(options.length + 1, decoder->config().vocab_rows, 3);
  tokens.erase(tokens.begin());
  const std::vector<double> predicted(tokens.size(), counted_from(0, options.length));
  return {finding("no-first", "norm-free", options.length, "fp64", positions_of(*decoder, tokens, "fp64"), predicted)};
}

std::vector<Finding> measure_first_twice(const TheoryOptions& options) {
  const auto decoder = counting_decoder("norm-free", "fp64", options.length);
  std::vector<int64_t> tokens = random_sequence(options.length, decoder->config().vocab_rows, 4);
  const int64_t second = options.length / 2;
  tokens[static_cast<size_t>(second - 1)] = kFirstToken;
  std::vector<double> predicted;
  for (int64_t t = 1; t <= options.length; ++t) {
    predicted.push_back(counted_from((t < second ? 1 : 2) / static_cast<double>(t), options.length));
  }
  return {
      finding("first-twice", "norm-free", options.length, "fp64", positions_of(*decoder, tokens, "fp64"), predicted)};
}

std::vector<Finding> measure_norm_added(const TheoryOptions& options) {
  const auto plain = counting_decoder("norm-free", "fp64", options.length);
  ModelConfig config = plain->config();
  config.norm = "rms";
  Decoder normed(config, /*seed=*/1, at::kDouble);
  for (size_t i = 0; i < normed.parameters().all().size(); ++i) {
    const at::NoGradGuard no_grad;
    normed.parameters().all()[i].value.copy_(plain->parameters().all()[i].value);
  }
  const std::vector<int64_t> tokens = random_sequence(options.length, config.vocab_rows, 5);
  const double content = 2 + static_cast<double>(content_count(normed));
  std::vector<double> predicted;
  for (int64_t t = 1; t <= options.length; ++t) {
    const double u = 1 / (static_cast<double>(t) * norm_divisor(normed, content));
    const double written = counted_from(u, options.length) - u;
    predicted.push_back(u + written / norm_divisor(normed, content + u * u));
  }
  return {finding("norm-added", "norm-free with RMSNorm", options.length, "fp64", positions_of(normed, tokens, "fp64"),
                  predicted)};
}

}  // namespace lengthwise
