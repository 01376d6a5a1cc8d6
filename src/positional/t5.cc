#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "core/error.h"
#include "positional/registry.h"

namespace lengthwise {

int64_t t5_bucket(int64_t distance, int64_t buckets, int64_t max_distance) {
  const int64_t exact = buckets / 2;
  if (distance < exact) return distance;
  const double ratio = std::log(static_cast<double>(distance) / static_cast<double>(exact)) /
                       std::log(static_cast<double>(max_distance) / static_cast<double>(exact));
  return std::min(buckets - 1, exact + static_cast<int64_t>(std::floor(ratio * static_cast<double>(buckets - exact))));
}

namespace {

/// One table for all layers, owned by none of them; exempt from weight decay as in the study (its name says bias).
class T5Bias : public Encoding {
 public:
  T5Bias(const EncodingConfig& config, const EncodingShape& shape, Parameters& parameters) : config_(config) {
    if (config.t5_buckets < 2 || config.t5_max_distance <= config.t5_buckets / 2) {
      fail("t5-buckets must be at least 2 and t5-max-distance more than half of it; got {} and {}", config.t5_buckets,
           config.t5_max_distance);
    }
    table_ = &parameters.add("encoding.relative_bias", {config.t5_buckets, shape.heads},
                             Initial::normal(1.0 / std::sqrt(static_cast<double>(shape.width))), /*decay=*/false);
  }

  const EncodingInfo& info() const override {
    static const EncodingInfo info{.name = "t5",
                                   .formula = "S_ij += table[bucket(i - j), head], buckets logarithmic past 16",
                                   .paper = "Raffel et al. 2020 (1910.10683)",
                                   .learned = "buckets x heads, shared by all layers"};
    return info;
  }

  ScoreTerms score_terms(int64_t distances, int64_t, const StepNoise&) const override {
    // As a product, whose gradient is summed in one order on every device.
    ScoreTerms terms;
    terms.table = at::mm(membership(distances), table_->value).t();
    return terms;
  }

 private:
  /// [distance, bucket] of 0 and 1. Kept, so that asking again copies nothing to the device.
  const at::Tensor& membership(int64_t distances) const {
    at::Tensor& found = membership_[distances];
    if (!found.defined()) {
      at::Tensor rows = at::zeros({distances, config_.t5_buckets}, at::kDouble);
      auto* row = rows.data_ptr<double>();
      for (int64_t m = 0; m < distances; ++m, row += config_.t5_buckets) {
        row[t5_bucket(m, config_.t5_buckets, config_.t5_max_distance)] = 1;
      }
      found = rows.to(table_->value.device(), table_->value.scalar_type());
    }
    return found;
  }

  mutable std::map<int64_t, at::Tensor> membership_;
  EncodingConfig config_;
  Parameter* table_;
};

}  // namespace

std::unique_ptr<Encoding> make_t5(const EncodingConfig& config, const EncodingShape& shape, Parameters& parameters) {
  return std::make_unique<T5Bias>(config, shape, parameters);
}

}  // namespace lengthwise
