#pragma once
/// The decoder's parts from ordinary tensor operations, over rows of tokens: its beginning, one layer, its end. Whole
/// sequences (model/plain_decoder.h) and kept keys (model/key_value_cache.h) are these parts around two ways to attend.
#include <functional>

#include "model/decoder.h"

namespace lengthwise {

/// What a training step adds to the plain function; by default nothing.
struct PlainStep {
  StepDropout dropout;
  Arithmetic arithmetic = Arithmetic::full;
};

/// What goes from layer to layer.
struct PlainRows {
  at::Tensor h;      ///< [row, width]: the residual stream
  at::Tensor state;  ///< [row, number]: the encoding's; undefined: it has none
};

/// How a layer's queries, keys and values [row, 3, head, dim] become attention's output [row, head * dim]. `features`
/// [row, column]: the encoding's columns of the product; undefined: it has none. `state` becomes that behind attention.
using PlainAttend = std::function<at::Tensor(const at::Tensor& qkv, const at::Tensor& features, at::Tensor& state)>;

/// dropout(E[tokens] + addition), and the encoding's first state, for tokens [row] at the context's positions.
PlainRows plain_embedding(const Decoder& decoder, const at::Tensor& tokens, const EncodingContext& context,
                          const PlainStep& step = {});

/// What is behind layer `index`, of all rows or of those `kept` where they are given: nothing but their residual stream
/// is wanted behind the last layer's attention, and masks of dropout count these rows from there.
PlainRows plain_layer(const Decoder& decoder, int64_t index, const PlainRows& before, const PlainAttend& attend,
                      const PlainStep& step = {}, const at::Tensor& kept = {});

/// Queries, keys and values [row, 3, head, dim], the first two rotated and scaled.
at::Tensor plain_parts(const at::Tensor& qkv, const LayerValues& values);

/// Attention as the encoding's values say, or in the encoding's own way.
AttentionView plain_attend(const Decoder& decoder, int64_t layer, const PaddedHeads& heads, const LayerValues& values,
                           const EncodingContext& context, const at::Tensor& mask = {});

/// What the head multiplies with the embedding: [..., width] of h [..., width] behind the last layer.
at::Tensor plain_head_rows(const Decoder& decoder, const at::Tensor& h, const PlainStep& step = {});

/// Logits [..., vocab] of h [..., width] behind the last layer.
at::Tensor plain_head(const Decoder& decoder, const at::Tensor& h, const PlainStep& step = {});

}  // namespace lengthwise
