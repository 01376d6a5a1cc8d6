#pragma once
/// A bfloat16 copy of a parameter arena, for matrix products; the float arena stays the one that learns.
#include "arena/parameters.h"

namespace lengthwise {

class Mirror {
 public:
  /// The arena must stay where it is.
  explicit Mirror(const Parameters& parameters);

  /// Rounds every parameter anew.
  void refresh();

  /// The rounded values, in the parameter's shape.
  at::Tensor of(const Parameter& parameter) const;

 private:
  const Parameters& parameters_;
  at::Tensor values_;
};

}  // namespace lengthwise
