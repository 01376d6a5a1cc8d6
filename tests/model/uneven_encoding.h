#pragma once
/// An encoding for tests alone: layers differ in whether they have a table of biases and whether it learns.
///
///     layer 3n: none;  layer 3n + 1: a fixed slope;  layer 3n + 2: a learned slope for each head
#include <ATen/ATen.h>

#include <string>
#include <vector>

#include "positional/registry.h"

namespace lengthwise::testing_model {

class UnevenTables : public Encoding {
 public:
  UnevenTables(const EncodingShape& shape, Parameters& parameters) : slopes_(static_cast<size_t>(shape.layers)) {
    fixed_ = at::linspace(0.1, 0.6, shape.heads, at::TensorOptions(shape.device).dtype(shape.type));
    for (int64_t layer = 2; layer < shape.layers; layer += 3) {
      slopes_[static_cast<size_t>(layer)] =
          &parameters.add("encoding." + std::to_string(layer) + ".slope", {shape.heads}, Initial::normal(0.3), false);
    }
  }

  const EncodingInfo& info() const override {
    static const EncodingInfo info{
        .name = "uneven", .formula = "by layer", .paper = "none", .learned = "in some layers"};
    return info;
  }

  ScoreTerms score_terms(int64_t distances, int64_t layer, const StepNoise&) const override {
    ScoreTerms terms;
    if (layer % 3 == 1) terms.table = alibi_table(fixed_, distances);
    if (layer % 3 == 2) terms.table = alibi_table(slopes_[static_cast<size_t>(layer)]->value, distances);
    return terms;
  }

  bool per_layer() const override { return true; }

 private:
  at::Tensor fixed_;                ///< [head]
  std::vector<Parameter*> slopes_;  ///< nullptr where nothing learns
};

inline std::unique_ptr<Encoding> make_uneven(const EncodingConfig&, const EncodingShape& shape,
                                             Parameters& parameters) {
  return std::make_unique<UnevenTables>(shape, parameters);
}

}  // namespace lengthwise::testing_model
