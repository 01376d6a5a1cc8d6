#include "positional/near_far.h"

#include <ATen/ATen.h>

#include "positional/own_attention.h"
#include "positional/rotation.h"

namespace lengthwise {

NearFarRotary::NearFarRotary(const EncodingArguments& arguments, const EncodingShape& shape)
    : window_(arguments.whole("window", 1, int64_t{1} << 30)),
      frequencies_(trained_rotation(arguments, shape).frequencies) {}

at::Tensor NearFarRotary::compare(const PaddedHeads& heads, const at::Tensor& queries, const at::Tensor& keys) const {
  const auto placed = [&](const at::Tensor& x, const at::Tensor& positions) {
    const Rotation turn = turned(positions, frequencies_, x.scalar_type());  // [batch, token, pair]
    return plain_rotate(x, turn.cos.unsqueeze(1), turn.sin.unsqueeze(1));
  };
  return at::matmul(placed(heads.q, queries), placed(heads.k, keys).transpose(-1, -2));
}

AttentionView NearFarRotary::attend(int64_t, const PaddedHeads& heads, const LayerValues& values,
                                    const EncodingContext& context, double scale, const at::Tensor& mask) const {
  refuse_rotation(values);
  const at::Tensor queries = context.query_positions;
  const at::Tensor keys = context.key_positions;
  at::Tensor content = compare(heads, queries, keys);
  if (context.distances > window_) {
    const at::Tensor near = queries.unsqueeze(-1) - keys.unsqueeze(-2) < window_;
    const at::Tensor far = compare(heads, far_query(queries.to(at::kDouble)), far_key(keys.to(at::kDouble)));
    content = at::where(near.unsqueeze(1), content, far);
  }
  return attend_by(content * scale, heads, values, scale, mask);
}

std::vector<EncodingOption> near_far_options(std::vector<EncodingOption> options) {
  options.insert(options.begin(), {"window", "16", "keys nearer than this are met as in training"});
  return trained_rotation_options(std::move(options));
}

}  // namespace lengthwise
