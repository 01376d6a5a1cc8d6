/// Heads that look at one place, whatever the content: themselves (diagonal) or the token before (previous-token).
///
/// | encoding | layer | how |
/// |---|---|---|
/// | NoPE | 1 | not at all: tokens of equal content have equal keys, so at best 1/(t - 1) each, or 1/t where the |
/// |      |   | target of some query is the first token |
/// | NoPE | 2 | the first layer writes angles of t (fourier_code.h), the head adds cos(w (t - o - i)) |
/// | RoPE | 1 | constant queries and keys, turned by the encoding; its own frequencies |
/// | ALiBi | 1 | constant scores; the slope is given: 1 - exp(-slope) on the diagonal |
/// | T5 | 1 | its table, which may be anything for the nearest distances |
///
/// Queries and keys get the norm at which, in exact arithmetic, 99 % of the weight would lie on the target at the given
/// length; what the precision leaves of it is measured.
#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <cmath>
#include <functional>

#include "core/error.h"
#include "model/inspect.h"
#include "positional/formulas.h"
#include "theory/construction.h"
#include "theory/fourier_code.h"
#include "theory/position_code.h"

namespace lengthwise {
namespace {

constexpr double kWanted = 0.99;
constexpr int64_t kLengths[] = {8, 32, 128, 512, 2048, 4096};

/// The factor that score(d), highest at d = offset, needs for the wanted weight there at the last of `length` tokens.
double sharpness(const std::function<double(int64_t)>& score, int64_t length, int64_t offset) {
  std::vector<double> below;
  for (int64_t distance = 0; distance < length; ++distance) {
    if (distance != offset) below.push_back(score(offset) - score(distance));
  }
  const auto weight = [&](double factor) {
    double others = 0;
    for (const double gap : below) others += std::exp(-factor * gap);
    return 1 / (1 + others);
  };
  double low = 0;
  double high = 1;
  while (weight(high) < kWanted && high < 1e12) high *= 2;
  for (int step = 0; step < 60; ++step) {
    const double middle = (low + high) / 2;
    (weight(middle) < kWanted ? low : high) = middle;
  }
  return high;
}

/// The least weight on the target over all queries that have one, in a layer's head; the best head of the layer.
double least_on_target(const Decoder& decoder, const std::vector<int64_t>& tokens, int64_t layer, int64_t offset,
                       const std::string& precision) {
  at::Tensor least;
  Inspection inspection;
  inspection.layers = layer + 1;
  inspection.attention = [&](const AttentionRows& rows) {
    if (rows.layer != layer) return;
    const int64_t skipped = std::max<int64_t>(0, offset - rows.first_query);
    const int64_t queries = rows.q.size(1) - skipped;
    if (queries <= 0) return;
    const at::Tensor on = rows.weights.narrow(1, skipped, queries)
                              .diagonal(rows.first_query + skipped - offset, 1, 2)
                              .amin(-1)
                              .to(at::kDouble);
    least = least.defined() ? at::minimum(least, on) : on;
  };
  inspect(decoder, single_sequence(tokens), inspection, arithmetic_of_theory(precision));
  return least.max().item<double>();
}

struct Built {
  std::unique_ptr<Decoder> decoder = {};
  int64_t layer = 0;
  double norm = 0;       ///< of queries and keys
  double predicted = 0;  ///< least weight on the target in exact arithmetic
  int64_t units = 0;     ///< of the feed-forward that the head rests on
};

/// All contents equal but for the first token: what no content can help with.
std::vector<int64_t> bare_sequence(int64_t length) {
  std::vector<int64_t> tokens(static_cast<size_t>(length), kFirstToken + 1);
  tokens.front() = kFirstToken;
  return tokens;
}

Built nope_first_layer(int64_t length, int64_t offset, const std::string& precision) {
  Built built{.decoder = make_theory_decoder({.decoder = "tiny", .precision = precision}, length)};
  constexpr double kAversion = 8;
  write_positions(*built.decoder, kFirstToken, {{code_dims::position, {1}}});
  const double divisor = norm_divisor(*built.decoder, 2 + static_cast<double>(content_count(*built.decoder)));
  if (offset > 0) {
    built.predicted = 1 / static_cast<double>(length);
    return built;
  }
  const double entry = divisor * std::sqrt(kAversion / built.decoder->score_scale());
  set_projection(*built.decoder, 0, 0, Projection::query, {{code_dims::one, 0, entry}});
  set_projection(*built.decoder, 0, 0, Projection::key, {{code_dims::first, 0, -entry}});
  built.norm = entry / divisor;
  built.predicted = 1 / (static_cast<double>(length - 1) + std::exp(-kAversion));
  return built;
}

/// Gives the norm of queries and keys.
double set_second_layer(Decoder& decoder, int64_t length, int64_t offset) {
  const auto planes = decoder.config().head_dim / 2;
  const FourierCode code = sharp_code(planes, length);
  const double factor =
      sharpness([&](int64_t distance) { return mean_cosine(code, std::abs(distance - offset)); }, length, offset);
  std::vector<double> cosines, sines;
  for (const double frequency : code.frequencies) {
    const double turn = frequency * static_cast<double>(offset);
    cosines.push_back(factor / static_cast<double>(planes) * std::cos(turn));
    sines.push_back(factor / static_cast<double>(planes) * std::sin(turn));
  }
  write_code(decoder, code, length);
  return attend_by_distance(decoder, 1, 0, code, cosines, sines);
}

void set_diagonal(Decoder& decoder, const TheoryOptions& options) {
  set_second_layer(decoder, options.length, 0);
}

void set_previous(Decoder& decoder, const TheoryOptions& options) {
  set_second_layer(decoder, options.length, 1);
}

Built nope_second_layer(int64_t length, int64_t offset, const std::string& precision) {
  Built built{.decoder = make_theory_decoder({.decoder = "tiny", .precision = precision, .units = length}, length),
              .layer = 1};
  built.norm = set_second_layer(*built.decoder, length, offset);
  built.predicted = kWanted;
  built.units = length;
  return built;
}

Built rope(int64_t length, int64_t offset, const std::string& precision) {
  Built built{.decoder = make_theory_decoder(
                  {.decoder = "tiny", .precision = precision, .encoding = "rope", .rotary_fraction = 1}, length)};
  Decoder& decoder = *built.decoder;
  const int64_t dim = decoder.config().head_dim;
  FourierCode code;
  const at::Tensor frequencies = geometric_frequencies(dim, 10000);
  for (int64_t plane = 0; plane < dim / 2; ++plane) code.frequencies.push_back(frequencies[plane].item<double>());
  const double factor =
      sharpness([&](int64_t distance) { return mean_cosine(code, std::abs(distance - offset)); }, length, offset);
  write_positions(decoder, kFirstToken, {{code_dims::position, {1}}});
  const double divisor = norm_divisor(decoder, 2 + static_cast<double>(content_count(decoder)));
  const double entry = divisor * std::sqrt(factor / (static_cast<double>(dim / 2) * decoder.score_scale()));
  std::vector<HeadEntry> query, key;
  for (int64_t plane = 0; plane < dim / 2; ++plane) {
    const double turn = code.frequencies[static_cast<size_t>(plane)] * static_cast<double>(offset);
    query.push_back({code_dims::one, 2 * plane, entry * std::cos(turn)});
    query.push_back({code_dims::one, 2 * plane + 1, -entry * std::sin(turn)});
    key.push_back({code_dims::one, 2 * plane, entry});
  }
  set_projection(decoder, 0, 0, Projection::query, query);
  set_projection(decoder, 0, 0, Projection::key, key);
  built.norm = entry / divisor * std::sqrt(static_cast<double>(dim / 2));
  built.predicted = kWanted;
  return built;
}

Built alibi(int64_t length, int64_t offset, const std::string& precision) {
  Built built{.decoder = make_theory_decoder({.decoder = "tiny", .precision = precision, .encoding = "alibi"}, length)};
  write_positions(*built.decoder, kFirstToken, {{code_dims::position, {1}}});
  for (const double slope : alibi_slopes(built.decoder->config().heads)) {
    const double sum = (1 - std::exp(-slope * static_cast<double>(length))) / (1 - std::exp(-slope));
    built.predicted = std::max(built.predicted, std::exp(-slope * static_cast<double>(offset)) / sum);
  }
  return built;
}

Built t5(int64_t length, int64_t offset, const std::string& precision) {
  Built built{.decoder = make_theory_decoder({.decoder = "tiny", .precision = precision, .encoding = "t5"}, length)};
  write_positions(*built.decoder, kFirstToken, {{code_dims::position, {1}}});
  const at::NoGradGuard no_grad;
  // Distances below half of the buckets have a bucket of their own.
  for (const Parameter* parameter : built.decoder->encoding_parameters())
    parameter->value[offset].fill_(sharpness([&](int64_t d) { return d == offset ? 1 : 0; }, length, offset));
  built.predicted = kWanted;
  return built;
}

struct Way {
  const char* name;
  Built (*build)(int64_t length, int64_t offset, const std::string& precision);
};
constexpr Way kWays[] = {
    {"nope, layer 1", nope_first_layer},
    {"nope, layer 2", nope_second_layer},
    {"rope, layer 1", rope},
    {"alibi, layer 1", alibi},
    {"t5, layer 1", t5},
};

std::vector<Finding> measure_sharp(const char* construction, int64_t offset, const TheoryOptions& options) {
  std::vector<Finding> findings;
  for (const Way& way : kWays) {
    for (const int64_t length : kLengths) {
      if (length > std::max<int64_t>(options.length, 128)) continue;
      for (const std::string& precision : options.precisions) {
        const Built built = way.build(length, offset, precision);
        const double least = least_on_target(*built.decoder, bare_sequence(length), built.layer, offset, precision);
        Finding finding{.construction = construction,
                        .decoder = way.name,
                        .length = length,
                        .precision = precision,
                        .max_error = std::abs(least - built.predicted)};
        finding.values = {{"least_on_target", least},
                          {"predicted", built.predicted},
                          {"query_norm", built.norm},
                          {"units", static_cast<double>(built.units)}};
        finding.as_predicted = least >= built.predicted - expected_error(precision, length) &&
                               (built.predicted == kWanted || finding.max_error <= expected_error(precision, length));
        findings.push_back(finding);
      }
    }
  }
  return findings;
}

std::vector<Finding> measure_diagonal(const TheoryOptions& options) {
  return measure_sharp("diagonal-head", 0, options);
}

std::vector<Finding> measure_previous(const TheoryOptions& options) {
  return measure_sharp("previous-head", 1, options);
}

}  // namespace

extern const Construction kDiagonalHead = {"diagonal-head", "the sharpest diagonal heads, by encoding and layer",
                                           measure_diagonal, set_diagonal};
extern const Construction kPreviousHead = {"previous-head", "the sharpest previous-token heads, by encoding and layer",
                                           measure_previous, set_previous};

}  // namespace lengthwise
