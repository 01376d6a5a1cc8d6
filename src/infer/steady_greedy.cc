#include "infer/steady_greedy.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>

#include "core/error.h"
#include "data/vocabulary.h"

namespace lengthwise {
namespace {

/// Few different numbers of keys, so that few steps are captured.
int64_t keys_looked_at(int64_t longest, int64_t capacity) {
  const int64_t step = longest <= 128 ? 32 : 128;
  return std::min(capacity, (longest + step - 1) / step * step);
}

}  // namespace

SteadyGreedy::SteadyGreedy(const Decoder& decoder, int64_t batch, int64_t capacity, Feeding feeding)
    : batch_(batch),
      replays_(std::move(feeding.capture)),
      wait_(std::move(feeding.wait)),
      cache_(decoder, batch, capacity) {
  const at::TensorOptions options = decoder.parameters().values().options().dtype(at::kLong).requires_grad(false);
  current_ = at::zeros({batch}, options);
  position_ = at::zeros({batch}, options);
  alive_ = at::zeros({batch}, options);
  made_ = at::zeros({batch, capacity}, options);
}

/// The first token of every answer, from whole prompts. Rows without a prompt do not live.
void SteadyGreedy::begin(std::span<const std::vector<int32_t>> prompts) {
  at::Tensor last = at::zeros({batch_}, at::kLong);
  at::Tensor alive = at::zeros({batch_}, at::kLong);
  for (size_t b = 0; b < prompts.size(); ++b) {
    last.data_ptr<int64_t>()[b] = static_cast<int64_t>(prompts[b].size()) - 1;
    alive.data_ptr<int64_t>()[b] = 1;
  }
  cache_.clear();
  position_.copy_(last);
  alive_.copy_(alive);
  choose(cache_.read(prompts));
}

/// The next token of every living sequence, and whether it lives on.
void SteadyGreedy::choose(const at::Tensor& logits) {
  const at::Tensor next = logits.argmax(-1);
  position_.add_(alive_);
  current_.copy_(next);
  const at::Tensor place = position_.unsqueeze(1);
  made_.scatter_(1, place, at::where(alive_.unsqueeze(1) == 1, next.unsqueeze(1), made_.gather(1, place)));
  alive_.mul_((next != Vocabulary::kEos).to(at::kLong));
  alive_.mul_((position_ < cache_.capacity() - 1).to(at::kLong));
}

void SteadyGreedy::step(int64_t seen) {
  choose(cache_.step(current_, position_, seen, alive_));
}

void SteadyGreedy::generate(std::span<const std::vector<int32_t>> prompts, int64_t limit,
                            std::span<std::vector<int32_t>> answers) {
  LENGTHWISE_CHECK(static_cast<int64_t>(prompts.size()) <= batch_ && limit <= cache_.capacity(),
                   "{} prompts up to {} tokens for {} of {}", prompts.size(), limit, batch_, cache_.capacity());
  at::NoGradGuard no_grad;
  begin(prompts);
  int64_t longest = 1;
  for (const auto& prompt : prompts) longest = std::max(longest, std::ssize(prompt));
  const auto any_alive = [&] {
    const at::Tensor alive = alive_.sum();
    wait_();
    return alive.item<int64_t>() > 0;
  };
  make_steps(prompts, limit, any_alive, [&](int64_t done) {
    const int64_t seen = keys_looked_at(std::min(longest + done, cache_.capacity()), cache_.capacity());
    replays_.run(seen, [this, seen] { step(seen); });
  });
  wait_();
  const at::Tensor made = made_.to(at::kCPU);
  const std::span<const int64_t> tokens(made.const_data_ptr<int64_t>(), static_cast<size_t>(made.numel()));
  append_answers(prompts, limit, tokens, made.size(1), answers);
}

}  // namespace lengthwise
