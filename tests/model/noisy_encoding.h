#pragma once
/// An encoding for tests alone whose values are drawn anew in every training step: ALiBi's table, of which dropout
/// leaves out single distances, and a shift of the far ones that is drawn too.
#include <ATen/ATen.h>

#include "positional/encoding.h"
#include "positional/formulas.h"

namespace lengthwise::testing_model {

class NoisyTables : public Encoding {
 public:
  explicit NoisyTables(const EncodingShape& shape)
      : slopes_(at::linspace(0.1, 0.6, shape.heads, at::TensorOptions(shape.device).dtype(shape.type))) {}

  LayerValues layer(int64_t, const EncodingContext& context) const override {
    const int64_t distances = context.distances;
    const StepNoise& noise = context.noise;
    LayerValues terms;
    terms.table = alibi_table(slopes_, distances);
    if (!noise.training()) return terms;
    terms.table = terms.table * noise.mask(slopes_.size(0), distances, slopes_.options());
    terms.table = terms.table - noise.bits(1, 1).to(slopes_.scalar_type()) / 65536;
    terms.table.select(1, 0).zero_();
    return terms;
  }

  int64_t variant(int64_t layer) const override { return layer; }
  bool random() const override { return true; }

 private:
  at::Tensor slopes_;  ///< [head]
};

inline std::unique_ptr<Encoding> make_noisy(const EncodingShape& shape, EncodingParameters) {
  return std::make_unique<NoisyTables>(shape);
}

}  // namespace lengthwise::testing_model
