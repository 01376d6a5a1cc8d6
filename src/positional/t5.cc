#include <ATen/ATen.h>

#include <cmath>
#include <map>

#include "positional/entry.h"
#include "positional/formulas.h"

namespace lengthwise {
namespace {

/// One table for all layers, owned by none of them; exempt from weight decay as in the study (its name says bias).
class T5Bias : public Encoding {
 public:
  T5Bias(const EncodingArguments& arguments, const EncodingShape& shape, EncodingParameters parameters)
      : buckets_(arguments.whole("buckets", 2, 4096)), max_distance_(arguments.whole("max-distance")) {
    if (max_distance_ <= buckets_ / 2) {
      arguments.refuse("max-distance", fmt::format("more than half of the {} buckets", buckets_));
    }
    table_ = &parameters.add("relative_bias", {buckets_, shape.heads},
                             Initial::normal(1.0 / std::sqrt(static_cast<double>(shape.width))), /*decay=*/false);
  }

  LayerValues layer(int64_t, const EncodingContext& context) const override {
    // As a product, whose gradient is summed in one order on every device.
    LayerValues values;
    values.table = at::mm(membership(context.distances), table_->value).t();
    return values;
  }

 private:
  /// [distance, bucket] of 0 and 1. Kept, so that asking again copies nothing to the device.
  const at::Tensor& membership(int64_t distances) const {
    at::Tensor& found = membership_[distances];
    if (!found.defined()) {
      at::Tensor rows = at::zeros({distances, buckets_}, at::kDouble);
      auto* row = rows.data_ptr<double>();
      for (int64_t m = 0; m < distances; ++m, row += buckets_) row[t5_bucket(m, buckets_, max_distance_)] = 1;
      found = rows.to(table_->value.device(), table_->value.scalar_type());
    }
    return found;
  }

  mutable std::map<int64_t, at::Tensor> membership_;
  int64_t buckets_, max_distance_;
  Parameter* table_;
};

}  // namespace

extern const EncodingEntry t5_encoding{
    .info = {.name = "t5",
             .label = "T5",
             .family = "bias",
             .formula = "S_ij += table[bucket(i - j), head], buckets logarithmic past 16",
             .paper = "Raffel et al. 2020 (1910.10683)",
             .learned = "buckets x heads, shared by all layers",
             .aliases = {"t5-bias", "t5-relative"}},
    .options = {{"buckets", "32", "buckets of distances", "t5-buckets"},
                {"max-distance", "128", "distance from which all share one bucket", "t5-max-distance"}},
    .make = [](const EncodingArguments& arguments, const EncodingShape& shape, EncodingParameters parameters)
        -> std::unique_ptr<Encoding> { return std::make_unique<T5Bias>(arguments, shape, parameters); }};

}  // namespace lengthwise
