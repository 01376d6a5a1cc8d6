#include "positional/trained_length.h"

#include <algorithm>

namespace lengthwise {

EncodingOption trained_option() {
  return {"trained", "0", "tokens of the longest sequence of training; 0: as the run says, 512 where it does not"};
}

int64_t trained_length(const EncodingArguments& arguments, const EncodingShape& shape) {
  const int64_t given = arguments.whole("trained", 0, int64_t{1} << 40);
  if (given == 1) arguments.refuse("trained", "0 or at least 2");
  if (given > 0) return given;
  return shape.trained_length > 0 ? std::max<int64_t>(2, shape.trained_length) : 512;
}

}  // namespace lengthwise
