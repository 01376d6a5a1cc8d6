#include "theory/position_code.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <bit>
#include <cmath>

#include "core/error.h"
#include "kernels/elementwise.h"

namespace lengthwise {
namespace {

void assign(const Parameter& parameter, const at::Tensor& values) {
  const at::NoGradGuard no_grad;
  parameter.value.copy_(values);
}

at::Tensor zeros_like(const Parameter& parameter) {
  return at::zeros(parameter.shape, at::TensorOptions(at::kDouble));
}

void clear(Decoder& decoder) {
  const at::NoGradGuard no_grad;
  for (Parameter& parameter : decoder.parameters().all()) parameter.value.zero_();
  decoder.final_gain().value.fill_(1);
  for (int64_t layer = 0; layer < decoder.config().layers; ++layer) {
    decoder.layer(layer).attention_gain->value.fill_(1);
    decoder.layer(layer).ff_gain->value.fill_(1);
  }
}

void set_embedding(Decoder& decoder, int64_t first_token) {
  at::Tensor rows = zeros_like(decoder.embedding());
  auto at = rows.accessor<double, 2>();
  const int64_t begin = content_begin(decoder);
  for (int64_t row = 0; row < rows.size(0); ++row) {
    at[row][code_dims::one] = 1;
    at[row][row == first_token ? code_dims::first : code_dims::rest] = 1;
    for (int64_t bit = 0; bit < content_count(decoder); ++bit) at[row][begin + bit] = (row >> bit & 1) != 0 ? 1 : -1;
  }
  assign(decoder.embedding(), rows);
}

/// Squares of what stands in the dims of token t before the feed-forward: one, first or rest, 1/t, content.
double squares_before(const Decoder& decoder, int64_t t) {
  const auto place = static_cast<double>(t);
  return 2 + 1 / (place * place) + static_cast<double>(content_count(decoder));
}

double standing_before(int64_t dim, int64_t t) {
  if (dim == code_dims::one) return 1;
  if (dim == code_dims::position) return 1 / static_cast<double>(t);
  if (dim == code_dims::first) return t == 1 ? 1 : 0;
  if (dim == code_dims::rest) return t == 1 ? 0 : 1;
  return 0;
}

/// c_1 .. c_(n-1) and a for values y at t = 1 .. n.
std::vector<double> knot_weights(const std::vector<double>& y) {
  std::vector<double> weights;
  double before = 0;
  for (size_t t = 1; t < y.size(); ++t) {
    const auto place = static_cast<double>(t);
    const double slope = (y[t - 1] - y[t]) * place * (place + 1);
    weights.push_back(before - slope);
    before = slope;
  }
  weights.push_back(y.front());
  return weights;
}

}  // namespace

int64_t content_count(const Decoder& decoder) {
  return std::bit_width(static_cast<uint64_t>(std::max<int64_t>(decoder.config().vocab_rows - 1, 1)));
}

int64_t content_begin(const Decoder& decoder) {
  return decoder.config().width - content_count(decoder);
}

double norm_divisor(const Decoder& decoder, double sum_of_squares) {
  if (!decoder.normalizes()) return 1;
  return std::sqrt(sum_of_squares / static_cast<double>(decoder.config().width) + kNormEpsilon);
}

void set_projection(Decoder& decoder, int64_t layer, int64_t head, Projection projection,
                    const std::vector<HeadEntry>& entries) {
  const at::NoGradGuard no_grad;
  const ModelConfig& config = decoder.config();
  const int64_t column = (static_cast<int64_t>(projection) * config.heads + head) * config.head_dim;
  at::Tensor part = at::zeros({config.width, config.head_dim}, at::TensorOptions(at::kDouble));
  for (const HeadEntry& entry : entries) part[entry.from][entry.to] = entry.weight;
  decoder.layer(layer).qkv->value.narrow(1, column, config.head_dim).copy_(part);
}

void set_output(Decoder& decoder, int64_t layer, int64_t head, const std::vector<HeadEntry>& entries) {
  const at::NoGradGuard no_grad;
  const ModelConfig& config = decoder.config();
  at::Tensor part = at::zeros({config.head_dim, config.width}, at::TensorOptions(at::kDouble));
  for (const HeadEntry& entry : entries) part[entry.from][entry.to] = entry.weight;
  decoder.layer(layer).out->value.narrow(0, head * config.head_dim, config.head_dim).copy_(part);
}

void write_positions(Decoder& decoder, int64_t first_token, const std::vector<WrittenDim>& written) {
  const ModelConfig& config = decoder.config();
  const auto length = static_cast<int64_t>(written.front().values.size());
  if (length > config.ff_width) {
    fail("positions up to {} need as many feed-forward units, and the decoder has {}; choose a shorter --length",
         length, config.ff_width);
  }
  for (const WrittenDim& dim : written) {
    LENGTHWISE_CHECK(static_cast<int64_t>(dim.values.size()) == length, "written dims differ in length");
    if (dim.dim >= content_begin(decoder)) fail("the decoder's width {} has too few dims for the code", config.width);
  }
  clear(decoder);
  set_embedding(decoder, first_token);

  // The embedding of every token has the same norm.
  const double at_start = norm_divisor(decoder, 2 + static_cast<double>(content_count(decoder)));
  set_projection(decoder, 0, 0, Projection::value, {{code_dims::first, 0, 1}});
  set_output(decoder, 0, 0, {{0, code_dims::position, at_start}});

  const LayerParameters& layer = decoder.layer(0);
  at::Tensor in = zeros_like(*layer.ff_in);
  at::Tensor out = zeros_like(*layer.ff_out);
  auto in_at = in.accessor<double, 2>();
  auto out_at = out.accessor<double, 2>();
  for (int64_t j = 1; j < length; ++j) {
    in_at[code_dims::one][j - 1] = 1 / static_cast<double>(j);
    in_at[code_dims::position][j - 1] = -1;
  }
  in_at[code_dims::one][length - 1] = 1;
  for (const WrittenDim& dim : written) {
    std::vector<double> wanted(dim.values);
    for (int64_t t = 1; t <= length; ++t) {
      double& value = wanted[static_cast<size_t>(t - 1)];
      value = (value - standing_before(dim.dim, t)) * norm_divisor(decoder, squares_before(decoder, t));
    }
    const std::vector<double> weights = knot_weights(wanted);
    for (int64_t unit = 0; unit < length; ++unit) out_at[unit][dim.dim] = weights[static_cast<size_t>(unit)];
  }
  assign(*layer.ff_in, in);
  assign(*layer.ff_out, out);
}

}  // namespace lengthwise
