#pragma once
/// From the positions that a batch carries to what an encoding is asked with.
#include "model/decoder.h"

namespace lengthwise {

/// Positions [...] by every rule of the decoder's encoding: those that are given, in the order of the rules, or, where
/// nobody placed the tokens, as `unplaced` says of their index.
std::vector<PositionStream> streams_of(const Decoder& decoder, const std::vector<at::Tensor>& given,
                                       const at::Tensor& index);

/// What an encoding is asked with about tokens alone: their index and their positions by rule.
EncodingContext context_of(const Decoder& decoder, const at::Tensor& positions, const std::vector<at::Tensor>& streams);

}  // namespace lengthwise
