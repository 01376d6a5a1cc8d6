#include "model/model.h"

namespace lengthwise {

Arithmetic arithmetic_of(const std::string& precision) {
  return precision == "bf16" ? Arithmetic::bf16 : Arithmetic::full;
}

}  // namespace lengthwise
