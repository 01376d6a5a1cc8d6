#pragma once
/// Attention of one new token a sequence over the keys and values of those before it, which are kept.
///
///     keys, values [row, head, capacity, dim]: those of the tokens 0 .. place of a sequence, one row for each
///     out = sum_j softmax_j(scale f_h <R(place) q, k_j> + table[h, place - j]) v_j      for place - window < j <=
///     place
///
/// Types as in kernels/attention.h; keys and values are stored like qkv, keys rotated.
#include "kernels/attention.h"

namespace lengthwise {

struct KeptKeys {
  at::Tensor keys, values;
};

/// Takes the keys and values of whole sequences to the rows from `first` on, one for each.
void store_keys(const AttentionInputs& inputs, int64_t first, KeptKeys& kept);

/// `inputs` are those of the new tokens, one a row: its table reaches as far as the capacity, offsets and dropout are
/// not looked at. `places` [row] int64: where the new key goes, behind all that are seen. out [row, head * dim] is
/// written whole.
void cached_attention(const AttentionInputs& inputs, const at::Tensor& places, KeptKeys& kept, at::Tensor& out);

}  // namespace lengthwise
