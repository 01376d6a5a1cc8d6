#include <ATen/ATen.h>

#include <cmath>
#include <map>

#include "positional/entry.h"
#include "positional/formulas.h"

namespace lengthwise {
namespace {

/// Exempt from weight decay as in the study (the name of the table says bias).
///
/// T5 and the study have one table for all layers, owned by none of them (`t5`); many ports give each layer its own
/// (`t5-per-layer`), which is the same formula with as many tables as layers.
class T5Bias : public Encoding {
 public:
  T5Bias(const EncodingArguments& arguments, const EncodingShape& shape, EncodingParameters parameters, bool per_layer)
      : buckets_(arguments.whole("buckets", 2, 4096)), max_distance_(arguments.whole("max-distance")) {
    if (max_distance_ <= buckets_ / 2) {
      arguments.refuse("max-distance", fmt::format("more than half of the {} buckets", buckets_));
    }
    const auto add = [&](const std::string& name) {
      tables_.push_back(&parameters.add(name, {buckets_, shape.heads},
                                        Initial::normal(1.0 / std::sqrt(static_cast<double>(shape.width))),
                                        /*decay=*/false));
    };
    if (!per_layer) add("relative_bias");
    for (int64_t layer = 0; per_layer && layer < shape.layers; ++layer) add(fmt::format("{}.relative_bias", layer));
  }

  LayerValues layer(int64_t index, const EncodingContext& context) const override {
    const at::Tensor& table = tables_[static_cast<size_t>(variant(index))]->value;
    // As a product, whose gradient is summed in one order on every device.
    LayerValues values;
    values.table = at::mm(membership(context.distances, table), table).t();
    return values;
  }

  int64_t variant(int64_t layer) const override { return tables_.size() == 1 ? 0 : layer; }

 private:
  /// [distance, bucket] of 0 and 1. Kept, so that asking again copies nothing to the device.
  const at::Tensor& membership(int64_t distances, const at::Tensor& like) const {
    at::Tensor& found = membership_[distances];
    if (!found.defined()) {
      at::Tensor rows = at::zeros({distances, buckets_}, at::kDouble);
      auto* row = rows.data_ptr<double>();
      for (int64_t m = 0; m < distances; ++m, row += buckets_) row[t5_bucket(m, buckets_, max_distance_)] = 1;
      found = rows.to(like.device(), like.scalar_type());
    }
    return found;
  }

  mutable std::map<int64_t, at::Tensor> membership_;
  int64_t buckets_, max_distance_;
  std::vector<Parameter*> tables_;  ///< one, or one per layer
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
        -> std::unique_ptr<Encoding> { return std::make_unique<T5Bias>(arguments, shape, parameters, false); }};

extern const EncodingEntry t5_per_layer_encoding{
    .info = {.name = "t5-per-layer",
             .label = "T5, per layer",
             .family = "bias",
             .formula = "S_ij += table[layer, bucket(i - j), head], buckets as in t5",
             .paper = "Raffel et al. 2020 (1910.10683), one table in each layer",
             .learned = "per layer: buckets x heads",
             .aliases = {"t5-layers"}},
    .options = {{"buckets", "32", "buckets of distances"},
                {"max-distance", "128", "distance from which all share one bucket"}},
    .make = [](const EncodingArguments& arguments, const EncodingShape& shape, EncodingParameters parameters)
        -> std::unique_ptr<Encoding> { return std::make_unique<T5Bias>(arguments, shape, parameters, true); }};

}  // namespace lengthwise
