#include <ATen/ATen.h>

#include "positional/own_attention.h"
#include "positional/rotation.h"
#include "positional/trained_length.h"

namespace lengthwise {
namespace {

/// NTK-aware RoPE whose factor follows the length read so far:
///
///     w_c(n) = base(n)^(-2c/d),   base(n) = base s(n)^(d/(d-2)),   s(n) = max(1, factor n / trained - (factor - 1))
///     S_ij = scale <R(i) q_i, R(j) k_j> with the frequencies w(i + 1), d the rotated dims
///
/// Codes disagree: the usual one takes n of the whole sequence at hand, so that a token's scores change when others
/// follow, and its cached keys were turned by other frequencies; one turns everything by those of the longest sequence
/// there can be, which is `ntk`. Ours is the number of tokens that the query sees: what the usual code does for the
/// newest token, for every token, and the same whether a sequence is read at once or token by token. Keys are kept as
/// they are, as every query turns them by its own frequencies.
class DynamicNtk : public Encoding {
 public:
  DynamicNtk(const EncodingArguments& arguments, const EncodingShape& shape)
      : trained_(static_cast<double>(trained_length(arguments, shape))), factor_(factor_of(arguments)) {
    const TrainedRotation rotation = trained_rotation(arguments, shape);
    frequencies_ = rotation.frequencies;
    const int64_t pairs = rotation.width / 2;
    for (int64_t c = 0; c < pairs; ++c) {
      // A single pair, the highest, keeps its frequency, as in `ntk`.
      exponents_.push_back(pairs == 1 ? 0.0 : -static_cast<double>(c) / static_cast<double>(pairs - 1));
    }
  }

  bool attends(int64_t) const override { return true; }

  AttentionView attend(int64_t, const PaddedHeads& heads, const LayerValues& values, const EncodingContext& context,
                       double scale, const at::Tensor& mask) const override {
    refuse_rotation(values);
    const at::Tensor queries = context.query_positions.to(at::kDouble).unsqueeze(-1);
    const at::Tensor distance = queries - context.key_positions.to(at::kDouble).unsqueeze(-2);
    const at::Tensor stretch = ((queries + 1) * (factor_ / trained_) - (factor_ - 1)).clamp_min(1);
    const auto turning = std::ssize(exponents_);
    const int64_t rest = heads.q.size(-1) - 2 * turning;
    at::Tensor content =
        at::matmul(heads.q.narrow(-1, 2 * turning, rest), heads.k.narrow(-1, 2 * turning, rest).transpose(-1, -2));
    for (int64_t c = 0; c < turning; ++c) {
      const at::Tensor angle =
          distance * at::pow(stretch, exponents_[static_cast<size_t>(c)]) * frequencies_[c];  // [batch, query, key]
      const auto times = [&](int64_t query, int64_t key) {
        return heads.q.select(-1, query).unsqueeze(-1) * heads.k.select(-1, key).unsqueeze(-2);
      };
      const auto of_angle = [&](const at::Tensor& x) { return x.to(heads.q.scalar_type()).unsqueeze(1); };
      const int64_t a = 2 * c, b = 2 * c + 1;
      content = content + of_angle(at::cos(angle)) * (times(a, a) + times(b, b)) +
                of_angle(at::sin(angle)) * (times(a, b) - times(b, a));
    }
    return attend_by(content * scale, heads, values, scale, mask);
  }

 private:
  double trained_, factor_;
  at::Tensor frequencies_;         ///< [pair] double, of training
  std::vector<double> exponents_;  ///< by pair: w_c(n) = w_c s(n)^exponent
};

}  // namespace

extern const EncodingEntry dynamic_ntk_encoding{
    .info = {.name = "dynamic-ntk",
             .label = "Dynamic NTK",
             .family = "rotation",
             .formula = "NTK-aware RoPE with the factor max(1, f (i + 1) / trained - (f - 1)) for query i",
             .paper = "emozilla 2023, in Peng et al. 2023 (2309.00071)",
             .translation_invariant = false},
    .options = trained_rotation_options(
        {{"factor", "1", "f: how much faster than the length the stretch grows beyond the trained length"},
         trained_option()}),
    .make = [](const EncodingArguments& arguments, const EncodingShape& shape, EncodingParameters)
        -> std::unique_ptr<Encoding> { return std::make_unique<DynamicNtk>(arguments, shape); }};

}  // namespace lengthwise
