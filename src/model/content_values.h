#pragma once
/// What an encoding states about a layer where that follows from what the layer's tokens say: from the encoding's
/// columns of the query-key-value product. For the fused engines, which find the rest in positional/fused_values.h.
#include "model/plain_decoder.h"
#include "positional/encoding.h"

namespace lengthwise {

struct ContentValues {
  /// As FusedValues has them; `key_bias` is [token, head].
  LayerValues values;
  at::Tensor features;  ///< [token, column]: what the gradient is taken to
};

/// `columns` [token, column] of the product. `context` has positions, distances, streams and noise. With autograd
/// enabled, the values have their history.
ContentValues content_values(const Encoding& encoding, int64_t layer, EncodingContext context, const Padding& padding,
                             const at::Tensor& columns, int64_t heads, at::ScalarType type);

/// The gradients of what a layer stated; undefined ones are not there.
struct StatedGradients {
  at::Tensor table = {}, query_scale = {}, key_bias = {}, dense = {};
};

/// Gives the gradient of the columns, [token, column], and adds those of the encoding's parameters.
at::Tensor content_backward(const ContentValues& content, const StatedGradients& gradients);

}  // namespace lengthwise
