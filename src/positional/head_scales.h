#pragma once
/// Temperatures with one learned number for each head of each layer.
#include <ATen/core/Tensor.h>

#include "positional/entry.h"

namespace lengthwise {

class HeadScales : public Encoding {
 public:
  /// With the option `start`, what the numbers are before training. Weight decay exempts them: it would flatten
  /// attention.
  HeadScales(const EncodingArguments& arguments, const EncodingShape& shape, EncodingParameters parameters)
      : scales_(&parameters.add("scales", {shape.layers, shape.heads}, Initial::all(arguments.number("start")),
                                /*decay=*/false)) {}

  int64_t variant(int64_t layer) const override { return layer; }

 protected:
  at::Tensor scales(int64_t layer) const { return scales_->value.select(0, layer); }  ///< [head]

 private:
  Parameter* scales_;
};

}  // namespace lengthwise
