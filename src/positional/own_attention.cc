#include "positional/own_attention.h"

#include <ATen/ATen.h>

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

at::Tensor gathered(const at::Tensor& x, int64_t dim, const at::Tensor& index) {
  c10::List<std::optional<at::Tensor>> indices;
  for (int64_t d = 0; d < x.dim(); ++d) {
    std::vector<int64_t> shape(static_cast<size_t>(x.dim()), 1);
    shape[static_cast<size_t>(d)] = x.size(d);
    indices.push_back(d == dim ? index : at::arange(x.size(d), index.options()).view(shape));
  }
  return at::index(x, indices);
}

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
  // [batch, tap, channel, token], the farthest tap first.
  const at::Tensor shifted = at::constant_pad_nd(x, {0, 0, taps.size(0) - 1, 0}).unfold(1, x.size(1), 1);
  return (shifted * taps.flip(0).unsqueeze(-1)).sum(1).transpose(1, 2);
}

at::Tensor sums_from(const at::Tensor& x) {
  return x.flip(-1).cumsum(-1).flip(-1);
}

}  // namespace lengthwise
