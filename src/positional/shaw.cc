#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>

#include "positional/entry.h"

namespace lengthwise {
namespace {

/// Keys by distance, learned in each layer and shared by its heads; distances past `clip` share one:
///
///     S_ij = scale <q_i, k_j + a(min(i - j, clip))>
///
/// Keys only: the paper adds such vectors to the values too, and finds that they change nothing once the keys have
/// them.
class Shaw : public Encoding {
 public:
  Shaw(const EncodingArguments& arguments, const EncodingShape& shape, EncodingParameters parameters)
      : heads_(shape.heads), clip_(arguments.whole("clip", 1, 65536)) {
    const int64_t rows = clip_ + 1;
    // Glorot's deviation.
    const Initial start = Initial::normal(std::sqrt(2.0 / static_cast<double>(rows + shape.head_dim)));
    for (int64_t layer = 0; layer < shape.layers; ++layer) {
      keys_.push_back(&parameters.add(fmt::format("{}.relative_keys", layer), {rows, shape.head_dim}, start));
    }
  }

  LayerValues layer(int64_t index, const EncodingContext& context) const override {
    const at::Tensor& keys = keys_[static_cast<size_t>(index)]->value;
    // Past the clip the last row again; its gradient is a sum in one order on every device.
    const int64_t near = std::min(context.distances, clip_);
    const at::Tensor rows =
        at::cat({keys.narrow(0, 0, near), keys.narrow(0, clip_, 1).expand({context.distances - near, -1})});
    LayerValues values;
    values.relative_keys = rows.unsqueeze(0).expand({heads_, -1, -1});
    return values;
  }

  int64_t variant(int64_t layer) const override { return layer; }

 private:
  int64_t heads_, clip_;
  std::vector<Parameter*> keys_;  ///< by layer, [distance, dim]
};

}  // namespace

extern const EncodingEntry shaw_encoding{.info = {.name = "shaw",
                                                  .label = "Shaw",
                                                  .family = "bias",
                                                  .formula = "S_ij = <q_i, k_j + a[min(i - j, clip)]>",
                                                  .paper = "Shaw et al. 2018 (1803.02155)",
                                                  .learned = "per layer: (clip + 1) x head-dim"},
                                         .options = {{"clip", "16", "distance from which all share one key"}},
                                         .make = [](const EncodingArguments& arguments, const EncodingShape& shape,
                                                    EncodingParameters parameters) -> std::unique_ptr<Encoding> {
                                           return std::make_unique<Shaw>(arguments, shape, parameters);
                                         }};

}  // namespace lengthwise
