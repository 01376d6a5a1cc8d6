#include "gpu/device_examples.h"

#include <ATen/ATen.h>

namespace lengthwise {
namespace {

template <class T>
at::Tensor upload(const std::vector<T>& values, at::ScalarType type) {
  return at::from_blob(const_cast<T*>(values.data()), {static_cast<int64_t>(values.size())}, type).to(at::kCUDA);
}

/// Windows of a text as examples of their own, one behind the other: the device reads 32-bit tokens between offsets.
TokenSet laid_out(const TokenSet& windows) {
  TokenSet set;
  set.prompt_tokens = windows.prompt_tokens;
  for (int64_t i = 0; i < windows.size(); ++i) {
    const TokenView sequence = windows.sequence(i);
    set.tokens.insert(set.tokens.end(), sequence.begin(), sequence.end());
    set.offsets.push_back(static_cast<int64_t>(set.tokens.size()));
  }
  return set;
}

}  // namespace

DeviceExamples::DeviceExamples(const TokenSet& examples, const EpochOrder& order) : count_(examples.size()) {
  const TokenSet own = examples.text ? laid_out(examples) : TokenSet();
  const TokenSet& set = examples.text ? own : examples;
  tokens_ = upload(set.tokens, at::kInt);
  offsets_ = upload(set.offsets, at::kLong);
  prompt_tokens_ = upload(set.prompt_tokens, at::kInt);
  // As many epochs as one batch can reach into: an order is replaced only when no coming step looks at it.
  const int64_t rows = (order.batch_size() + count_ - 1) / count_ + 1;
  orders_ = at::empty({rows, count_}, at::TensorOptions(at::kCUDA).dtype(at::kInt));
}

gpu::DeviceTokens DeviceExamples::tokens() const {
  return {tokens_.const_data_ptr<int32_t>(), offsets_.const_data_ptr<int64_t>(),
          prompt_tokens_.const_data_ptr<int32_t>(), count_};
}

gpu::DeviceOrder DeviceExamples::order() const {
  return {orders_.const_data_ptr<int32_t>(), count_, orders_.size(0)};
}

void DeviceExamples::load_orders(EpochOrder& order, int64_t step) {
  const int64_t first = step * order.batch_size() / count_;
  const int64_t last = ((step + 1) * order.batch_size() - 1) / count_;
  if (next_epoch_ < first) next_epoch_ = first;
  for (; next_epoch_ <= last; ++next_epoch_) {
    const at::Tensor staged = at::empty({count_}, at::TensorOptions().dtype(at::kInt).pinned_memory(true));
    auto* to = staged.data_ptr<int32_t>();
    for (const int64_t example : order.epoch(next_epoch_)) *to++ = static_cast<int32_t>(example);
    at::Tensor row = orders_[next_epoch_ % orders_.size(0)];
    row.copy_(staged, /*non_blocking=*/true);
  }
}

}  // namespace lengthwise
