#pragma once
/// The option `trained` of encodings that need to know how long the sequences of training are, in tokens.
#include "positional/entry.h"

namespace lengthwise {

/// By default 0: what the model's shape says, or 512 where it says nothing.
EncodingOption trained_option();

int64_t trained_length(const EncodingArguments& arguments, const EncodingShape& shape);

}  // namespace lengthwise
