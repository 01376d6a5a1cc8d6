#pragma once
/// An encoding for tests alone: layers differ in whether they have a table of biases and whether it learns.
///
///     layer 3n: none;  layer 3n + 1: a fixed slope;  layer 3n + 2: a learned slope for each head
#include <ATen/ATen.h>

#include <string>
#include <vector>

#include "positional/encoding.h"
#include "positional/formulas.h"

namespace lengthwise::testing_model {

class UnevenTables : public Encoding {
 public:
  UnevenTables(const EncodingShape& shape, EncodingParameters parameters) : slopes_(static_cast<size_t>(shape.layers)) {
    fixed_ = at::linspace(0.1, 0.6, shape.heads, at::TensorOptions(shape.device).dtype(shape.type));
    for (int64_t layer = 2; layer < shape.layers; layer += 3) {
      slopes_[static_cast<size_t>(layer)] =
          &parameters.add(std::to_string(layer) + ".slope", {shape.heads}, Initial::normal(0.3), false);
    }
  }

  LayerValues layer(int64_t layer, const EncodingContext& context) const override {
    const int64_t distances = context.distances;
    LayerValues terms;
    if (layer % 3 == 1) terms.table = alibi_table(fixed_, distances);
    if (layer % 3 == 2) terms.table = alibi_table(slopes_[static_cast<size_t>(layer)]->value, distances);
    return terms;
  }

  int64_t variant(int64_t layer) const override { return layer; }

 private:
  at::Tensor fixed_;                ///< [head]
  std::vector<Parameter*> slopes_;  ///< nullptr where nothing learns
};

inline std::unique_ptr<Encoding> make_uneven(const EncodingShape& shape, EncodingParameters parameters) {
  return std::make_unique<UnevenTables>(shape, parameters);
}

}  // namespace lengthwise::testing_model
