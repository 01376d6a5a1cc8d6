#include "kernels/plain_attention.h"

#include <ATen/ATen.h>

#include <limits>

#include "core/error.h"
#include "kernels/attention_parts.h"

namespace lengthwise {

at::Tensor plain_rotate(const at::Tensor& x, const at::Tensor& cos, const at::Tensor& sin) {
  const int64_t rotated = 2 * cos.size(-1);
  const std::vector<at::Tensor> parts = x.split_with_sizes({rotated, x.size(-1) - rotated}, -1);
  const std::vector<at::Tensor> pair = parts[0].unflatten(-1, {cos.size(-1), 2}).unbind(-1);
  const auto mixed = [&](const at::Tensor& a, const at::Tensor& b, double sign) {
    return at::addcmul(a * cos, b, sin, sign);
  };
  const at::Tensor turned = at::stack({mixed(pair[0], pair[1], -1), mixed(pair[1], pair[0], 1)}, -1).flatten(-2);
  return rotated == x.size(-1) ? turned : at::cat({turned, parts[1]}, -1);
}

at::Tensor seen_keys(const PaddedHeads& heads, int64_t window) {
  if (window == 0) return heads.allowed;
  const at::Tensor distance = heads.query_positions.unsqueeze(-1) - heads.key_positions.unsqueeze(-2);
  return heads.allowed & (distance < window).unsqueeze(1);
}

at::Tensor add_terms(at::Tensor scores, const PaddedHeads& heads, const ScoreTerms& terms, double scale) {
  if (terms.table.defined() || terms.relative_keys.defined()) {
    // Pairs that are not allowed may have any distance; they are masked below.
    const at::Tensor distance = (heads.query_positions.unsqueeze(-1) - heads.key_positions.unsqueeze(-2)).clamp_min(0);
    const int64_t known = terms.table.defined() ? terms.table.size(1) : terms.relative_keys.size(1);
    const at::Tensor index = distance.clamp_max(known - 1);
    // Asking a GPU would make the host wait for it.
    LENGTHWISE_CHECK(!heads.q.is_cpu() || !((distance >= known).unsqueeze(1) & heads.allowed).any().item<bool>(),
                     "a distance beyond the {} an encoding was asked for", known);
    if (terms.table.defined()) scores = scores + terms.table.index({at::indexing::Slice(), index}).transpose(0, 1);
    if (terms.relative_keys.defined()) {
      at::Tensor position_query = heads.q;
      if (terms.position_bias.defined()) position_query = heads.q + terms.position_bias.unsqueeze(1);
      // [batch, head, query, distance], then for each key the entry of its distance.
      const at::Tensor by_distance = at::matmul(position_query, terms.relative_keys.transpose(-1, -2)) * scale;
      const at::Tensor& its = terms.relative_distance.defined() ? terms.relative_distance : index;
      scores = scores + by_distance.gather(-1, its.unsqueeze(1).expand({-1, heads.q.size(1), -1, -1}));
    }
  }
  if (terms.dense.defined()) scores = scores + terms.dense;
  if (terms.key_bias.defined()) scores = scores + terms.key_bias.unsqueeze(2);
  return scores;
}

AttentionView softmax_attention(const at::Tensor& scores, const PaddedHeads& heads, int64_t window,
                                const at::Tensor& mask) {
  const at::Tensor allowed = seen_keys(heads, window);
  AttentionView view;
  view.scores = at::where(allowed, scores, -std::numeric_limits<double>::infinity());
  // Rows of padding have no allowed key, and NaN would be their weights.
  view.weights = at::where(allowed, at::softmax(view.scores, -1), 0);
  const at::Tensor weights = mask.defined() ? view.weights * mask : view.weights;
  view.out = at::matmul(weights, heads.v);
  return view;
}

AttentionView plain_attention(const PaddedHeads& heads, const ScoreTerms& terms, double scale, const at::Tensor& mask) {
  at::Tensor content_query = heads.q;
  if (terms.content_bias.defined()) content_query = heads.q + terms.content_bias.unsqueeze(1);
  const at::Tensor content = at::matmul(content_query, heads.k.transpose(-1, -2)) * scale;
  return softmax_attention(add_terms(content, heads, terms, scale), heads, terms.window, mask);
}

}  // namespace lengthwise
