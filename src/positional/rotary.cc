#include <ATen/ATen.h>

#include <cmath>

#include "core/error.h"
#include "positional/registry.h"

namespace lengthwise {
namespace {

/// Angles are made in double from integer positions; frequencies run over the rotated width, as in the study.
class Rotary : public Encoding {
 public:
  Rotary(const EncodingConfig& config, const EncodingShape& shape) : type_(shape.type) {
    const double wanted = config.rotary_fraction * static_cast<double>(shape.head_dim);
    const int64_t rotated = static_cast<int64_t>(wanted) / 2 * 2;
    if (!(config.rotary_fraction > 0) || config.rotary_fraction > 1 || rotated < 2) {
      fail("--rotary-fraction must be above 0 and at most 1 and rotate at least 2 of the {} dims of a head, not {}",
           shape.head_dim, config.rotary_fraction);
    }
    if (!(config.rotary_base > 1)) fail("--rotary-base must be above 1, not {}", config.rotary_base);
    frequencies_ = geometric_frequencies(rotated, config.rotary_base, shape.device);
  }

  const EncodingInfo& info() const override {
    static const EncodingInfo info{.name = "rope",
                                   .formula = "turn pairs (2c, 2c+1) of q_i, k_j by i w_c, j w_c; see rotary-fraction",
                                   .paper = "Su et al. 2021 (2104.09864)",
                                   .learned = "none"};
    return info;
  }

  Rotation rotation(const at::Tensor& positions) const override {
    const at::Tensor angles = positions.to(at::kDouble).unsqueeze(-1) * frequencies_;
    return {at::cos(angles).to(type_), at::sin(angles).to(type_)};
  }

 private:
  at::ScalarType type_;
  at::Tensor frequencies_;  ///< [pair] double
};

}  // namespace

std::unique_ptr<Encoding> make_rotary(const EncodingConfig& config, const EncodingShape& shape, Parameters&) {
  return std::make_unique<Rotary>(config, shape);
}

}  // namespace lengthwise
