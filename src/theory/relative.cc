/// Relative positions in the second layer (Theorem 2 of Kazemnejad et al. 2023): with t in the residual stream,
///
///     q_t = (a, -a t, content),   k_i = (a i, a, content)   =>   S_ti = <content, content> - slope (t - i).
///
/// Under RMSNorm a second written dim holds sqrt(n^2 - t^2 + 1), so that all tokens are divided by the same number.
#include <ATen/ATen.h>

#include <cmath>

#include "model/inspect.h"
#include "theory/construction.h"
#include "theory/position_code.h"

namespace lengthwise {
namespace {

constexpr double kContent = 0.5;  // how much one agreeing bit of content adds to a score
constexpr double kSlope = 0.25;

struct RelativeHead {
  double slope = kSlope;
  double content = 0;
};

void set_head(Decoder& decoder, int64_t length, const RelativeHead& head) {
  WrittenDim position{code_dims::position, {}};
  WrittenDim ballast{code_dims::free, {}};
  const auto longest = static_cast<double>(length);
  for (int64_t t = 1; t <= length; ++t) {
    const auto place = static_cast<double>(t);
    position.values.push_back(place);
    ballast.values.push_back(std::sqrt(longest * longest - place * place + 1));
  }
  write_positions(decoder, kFirstToken, {position, ballast});
  const double divisor = norm_divisor(decoder, longest * longest + 3 + static_cast<double>(content_count(decoder)));
  const double by_place = divisor * std::sqrt(head.slope / decoder.score_scale());
  const double by_content = divisor * std::sqrt(head.content / decoder.score_scale());
  std::vector<HeadEntry> query{{code_dims::one, 0, by_place}, {code_dims::position, 1, -by_place}};
  std::vector<HeadEntry> key{{code_dims::position, 0, by_place}, {code_dims::one, 1, by_place}};
  for (int64_t bit = 0; bit < content_bits(decoder); ++bit) {
    query.push_back({content_begin(decoder) + bit, 2 + bit, by_content});
    key.push_back({content_begin(decoder) + bit, 2 + bit, by_content});
  }
  set_projection(decoder, 1, 0, Projection::query, query);
  set_projection(decoder, 1, 0, Projection::key, key);
}

/// [query, key]: how many bits of content agree minus how many differ.
at::Tensor agreement(const Decoder& decoder, const std::vector<int64_t>& tokens) {
  const at::Tensor rows = decoder.embedding()
                              .value.detach()
                              .to(at::kDouble)
                              .index_select(0, at::tensor(tokens, at::TensorOptions(at::kLong)))
                              .narrow(1, content_begin(decoder), content_bits(decoder));
  return at::matmul(rows, rows.t());
}

template <class Compare>
std::vector<Finding> measure(const char* construction, const TheoryOptions& options, const RelativeHead& head,
                             const Compare& compare) {
  std::vector<Finding> findings;
  for (const std::string& name : options.decoders) {
    for (const std::string& precision : options.precisions) {
      if (!has_room(name, options.length)) continue;
      const auto decoder = make_theory_decoder({.decoder = name, .precision = precision}, options.length);
      set_head(*decoder, options.length, head);
      const std::vector<int64_t> tokens = random_sequence(options.length, decoder->config().vocab_rows, 6);
      Finding finding{.construction = construction,
                      .decoder = name,
                      .length = options.length,
                      .precision = precision,
                      .values = {{"slope", head.slope}}};
      double query_norm = 0;
      const at::Tensor agree = agreement(*decoder, tokens);
      Inspection inspection;
      inspection.layers = 2;
      inspection.attention = [&](const AttentionRows& rows) {
        if (rows.layer != 1) return;
        const at::Tensor distance = distances_apart(rows.first_query, rows.q.size(1), rows.k.size(1));
        const at::Tensor scores =
            head.content * agree.narrow(0, rows.first_query, rows.q.size(1)) - head.slope * distance;
        finding.max_error = std::max(finding.max_error, compare(rows, scores, distance >= 0));
        query_norm = std::max(query_norm, rows.q[0].norm(2, -1).max().item<double>());
      };
      inspect(*decoder, single_sequence(tokens), inspection, arithmetic_of_theory(precision));
      finding.values.emplace_back("query_norm", query_norm);
      finding.as_predicted = finding.max_error <= expected_error(precision, options.length);
      findings.push_back(finding);
    }
  }
  return findings;
}

std::vector<Finding> measure_relative(const TheoryOptions& options) {
  return measure("relative", options, {.slope = kSlope, .content = kContent},
                 [](const AttentionRows& rows, const at::Tensor& scores, const at::Tensor& allowed) {
                   return (rows.scores[0].to(at::kDouble) - scores)
                       .masked_fill(allowed.logical_not(), 0)
                       .abs()
                       .max()
                       .item<double>();
                 });
}

std::vector<Finding> measure_alibi_head(const TheoryOptions& options) {
  std::vector<Finding> findings;
  for (const double slope : {0.5, 0.12, 1.0 / 256}) {
    const auto more =
        measure("alibi-head", options, {.slope = slope, .content = 0},
                [](const AttentionRows& rows, const at::Tensor& scores, const at::Tensor& allowed) {
                  const at::Tensor wanted = at::softmax(
                      scores.masked_fill(allowed.logical_not(), -std::numeric_limits<double>::infinity()), -1);
                  return (rows.weights[0].to(at::kDouble) - wanted).abs().max().item<double>();
                });
    findings.insert(findings.end(), more.begin(), more.end());
  }
  return findings;
}

void set_relative(Decoder& decoder, const TheoryOptions& options) {
  set_head(decoder, options.length, {.slope = kSlope, .content = kContent});
}

void set_alibi_head(Decoder& decoder, const TheoryOptions& options) {
  set_head(decoder, options.length, {.slope = kSlope, .content = 0});
}

}  // namespace

extern const Construction kRelative = {"relative", "the second layer's scores are content minus slope times distance",
                                       measure_relative, set_relative};
extern const Construction kAlibiHead = {"alibi-head",
                                        "a head of the second layer attends as ALiBi does, with any slope",
                                        measure_alibi_head, set_alibi_head};

}  // namespace lengthwise
