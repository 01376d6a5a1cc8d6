#pragma once
/// Temperatures with one learned number for each head of each layer, times what belongs to a query's position:
///
///     factor [layer, query, head] = scales[layer, head] at(position of the query)
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
  /// Of a layer, [..., head] for positions [...]. The first layer that asks makes those of all.
  at::Tensor factors(int64_t layer, const at::Tensor& positions, const EncodingContext& context) const;

 private:
  /// [position], of the parameter's type.
  virtual at::Tensor by_position(const at::Tensor& positions, at::ScalarType type) const = 0;

  Parameter* scales_;
};

}  // namespace lengthwise
