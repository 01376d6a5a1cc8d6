#pragma once
/// A bias that falls in proportion to the distance, with slopes that stay: S_ij -= slope[head] (i - j) in all layers.
#include <vector>

#include "positional/encoding.h"

namespace lengthwise {

class LinearBias : public Encoding {
 public:
  LinearBias(const std::vector<double>& slopes, const EncodingShape& shape);

  LayerValues layer(int64_t index, const EncodingContext& context) const override;

 private:
  at::Tensor slopes_;  ///< [head]
};

}  // namespace lengthwise
