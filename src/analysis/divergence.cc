#include "analysis/divergence.h"

#include <ATen/ATen.h>

#include <cmath>

#include "core/error.h"

namespace lengthwise {

std::string to_text(Divergence divergence) {
  return divergence == Divergence::jensen_shannon ? "jensen-shannon" : "as-published";
}

at::Tensor divergence_sums(const at::Tensor& a, const at::Tensor& b, Divergence divergence) {
  LENGTHWISE_CHECK(a.scalar_type() == at::kDouble && b.scalar_type() == at::kDouble, "logarithms are not double");
  const at::Tensor q = b.exp();
  const at::Tensor q_entropy = at::special_entr(q).sum({1, 2});
  std::vector<at::Tensor> rows;
  // One head of `a` at a time against all of `b`: memory stays that of `b`.
  for (int64_t head = 0; head < a.size(0); ++head) {
    const at::Tensor log_p = a.narrow(0, head, 1);
    const at::Tensor p = log_p.exp();
    const at::Tensor m = (p + q) / 2;
    const at::Tensor entropy = at::special_entr(m).sum({1, 2});
    if (divergence == Divergence::jensen_shannon) {
      rows.push_back((entropy - (at::special_entr(p).sum({1, 2}) + q_entropy) / 2).clamp_min(0));
    } else {
      const at::Tensor cross = at::where(m > 0, m * (log_p + b), at::zeros_like(m)).sum({1, 2});
      rows.push_back((-entropy - cross / 2).clamp_min(0));
    }
  }
  return at::stack(rows);
}

NearestHeads nearest_heads(const at::Tensor& means, Divergence divergence) {
  const at::Tensor kept = means.to(at::kCPU).to(at::kDouble).contiguous();
  const auto at = kept.accessor<double, 2>();
  NearestHeads nearest{INFINITY, -1, -1};
  for (int64_t head = 0; head < kept.size(0); ++head) {
    for (int64_t other = 0; other < kept.size(1); ++other) {
      if (divergence == Divergence::as_published && other >= head) continue;
      if (nearest.head < 0 || at[head][other] < nearest.divergence) nearest = {at[head][other], head, other};
    }
  }
  return nearest;
}

}  // namespace lengthwise
