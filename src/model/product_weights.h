#pragma once
/// The decoder's weights as its matrix products on the CPU read them (kernels/products.h): in panels where products are
/// made here, else as they lie in the arena or, for bfloat16 operands, in a rounded copy of it.
#include <optional>
#include <unordered_map>

#include "arena/mirror.h"
#include "kernels/products.h"

namespace lengthwise {

class ProductWeights {
 public:
  /// `type`: of the operands of products. The head stays in the type of the parameters.
  ProductWeights(const Parameters& parameters, const Parameter& head, at::ScalarType type);

  /// Reads the parameters anew. `backward`: also what a backward pass reads.
  void refresh(bool backward);

  const ProductWeight& of(const Parameter& parameter) const { return weights_.at(&parameter); }

 private:
  std::optional<Mirror> mirror_;
  std::unordered_map<const Parameter*, ProductWeight> weights_;
};

}  // namespace lengthwise
