#include "positional/part_states.h"

#include <ATen/ATen.h>

namespace lengthwise {

int64_t side_by_side(const EncodingParts& parts) {
  int64_t size = 0;
  for (const auto& part : parts) size += part->state_size();
  return size;
}

at::Tensor first_states(const EncodingParts& parts, const EncodingContext& context) {
  std::vector<at::Tensor> states;
  for (const auto& part : parts) {
    if (part->state_size() > 0) states.push_back(part->first_state(context));
  }
  return states.empty() ? at::Tensor() : at::cat(states, -1);
}

EncodingContext with_state_of(const EncodingParts& parts, size_t part, EncodingContext context) {
  if (!context.query_state.defined()) return context;
  int64_t before = 0;
  for (size_t i = 0; i < part; ++i) before += parts[i]->state_size();
  const int64_t size = parts[part]->state_size();
  for (at::Tensor* state : {&context.query_state, &context.key_state}) {
    *state = size > 0 ? state->narrow(-1, before, size) : at::Tensor();
  }
  return context;
}

at::Tensor each_state(const EncodingParts& parts, const at::Tensor& states,
                      const std::function<at::Tensor(size_t part, const at::Tensor& its)>& next) {
  std::vector<at::Tensor> pieces;
  int64_t before = 0;
  for (size_t part = 0; part < parts.size(); ++part) {
    const int64_t size = parts[part]->state_size();
    if (size == 0) continue;
    pieces.push_back(next(part, states.narrow(-1, before, size)));
    before += size;
  }
  return at::cat(pieces, -1);
}

}  // namespace lengthwise
