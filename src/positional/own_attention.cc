#include "positional/own_attention.h"

#include <ATen/ATen.h>

#include <algorithm>

#include "core/error.h"
#include "kernels/attention_parts.h"

namespace lengthwise {
namespace {

/// [batch, 1, query]: which key is the query's own token; -1 in rows of padding. Positions do not tell, as several
/// tokens may have the same.
at::Tensor own_place(const PaddedHeads& heads) {
  return heads.allowed.sum(-1) - 1;
}

}  // namespace

at::Tensor of_queries(const at::Tensor& x, const PaddedHeads& heads) {
  const at::Tensor place = own_place(heads).clamp_min(0).unsqueeze(-1);
  return x.gather(2, place.expand({-1, x.size(1), -1, x.size(3)}));
}

at::Tensor own_keys(const PaddedHeads& heads) {
  const at::Tensor place = own_place(heads).unsqueeze(-1);
  return at::arange(heads.k.size(2), place.options()) == place;
}

at::Tensor content_scores(const PaddedHeads& heads, double scale) {
  return at::matmul(heads.q, heads.k.transpose(-1, -2)) * scale;
}

at::Tensor own_scores(const at::Tensor& content, const PaddedHeads& heads, const LayerValues& values, double scale) {
  if (values.relative_keys.defined()) {
    fail("an encoding with keys by distance cannot be added to one that attends in its own way");
  }
  return add_terms(content, heads, values, scale);
}

void refuse_rotation(const LayerValues& values) {
  if (values.query.cos.defined() || values.key.cos.defined()) {
    fail("two encodings of a sum turn queries and keys, one can");
  }
}

AttentionView attend_by(const at::Tensor& content, const PaddedHeads& heads, const LayerValues& values, double scale,
                        const at::Tensor& mask) {
  return softmax_attention(own_scores(content, heads, values, scale), heads, values.window, mask);
}

at::Tensor short_convolution(const at::Tensor& x, const at::Tensor& taps) {
  at::Tensor sum = x * taps[0];
  const int64_t tokens = x.size(1);
  for (int64_t back = 1; back < std::min(taps.size(0), tokens); ++back) {
    sum = sum + at::constant_pad_nd(x.narrow(1, 0, tokens - back), {0, 0, back, 0}) * taps[back];
  }
  return sum;
}

at::Tensor sums_from(const at::Tensor& x) {
  return x.flip(-1).cumsum(-1).flip(-1);
}

}  // namespace lengthwise
