#include "positional/linear_bias.h"

#include <ATen/ATen.h>

#include "positional/formulas.h"

namespace lengthwise {

LinearBias::LinearBias(const std::vector<double>& slopes, const EncodingShape& shape)
    : slopes_(at::tensor(slopes, at::kDouble).to(shape.device, shape.type)) {}

LayerValues LinearBias::layer(int64_t, const EncodingContext& context) const {
  LayerValues values;
  values.table = alibi_table(slopes_, context.distances);
  return values;
}

}  // namespace lengthwise
