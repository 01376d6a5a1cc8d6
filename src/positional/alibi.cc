#include <ATen/ATen.h>

#include "positional/entry.h"
#include "positional/formulas.h"

namespace lengthwise {
namespace {

class Alibi : public Encoding {
 public:
  explicit Alibi(const EncodingShape& shape)
      : slopes_(at::tensor(alibi_slopes(shape.heads), at::kDouble).to(shape.device, shape.type)) {}

  LayerValues layer(int64_t, const EncodingContext& context) const override {
    LayerValues values;
    values.table = alibi_table(slopes_, context.distances);
    return values;
  }

 private:
  at::Tensor slopes_;  ///< [head]
};

}  // namespace

extern const EncodingEntry alibi_encoding{
    .info = {.name = "alibi",
             .label = "ALiBi",
             .family = "bias",
             .formula = "S_ij -= slope[head] (i - j), slopes 2^(-8h/H)",
             .paper = "Press et al. 2022 (2108.12409)"},
    .make = [](const EncodingArguments&, const EncodingShape& shape, EncodingParameters) -> std::unique_ptr<Encoding> {
      return std::make_unique<Alibi>(shape);
    }};

}  // namespace lengthwise
