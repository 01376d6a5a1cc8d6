#include "batch/prompts.h"

#include <ATen/ATen.h>

#include <algorithm>

namespace lengthwise {

Batch prompt_batch(std::span<const std::vector<int32_t>> prompts) {
  std::vector<int64_t> tokens, positions, offsets{0}, last;
  Batch batch;
  for (const std::vector<int32_t>& prompt : prompts) {
    for (int64_t i = 0; i < std::ssize(prompt); ++i) {
      tokens.push_back(prompt[static_cast<size_t>(i)]);
      positions.push_back(i);
    }
    offsets.push_back(std::ssize(tokens));
    last.push_back(offsets.back() - 1);
    batch.longest = std::max<int64_t>(batch.longest, std::ssize(prompt));
  }
  batch.tokens = at::tensor(tokens, at::kLong);
  batch.positions = at::tensor(positions, at::kLong);
  batch.offsets = at::tensor(offsets, at::kLong);
  batch.loss_rows = at::tensor(last, at::kLong);
  batch.targets = at::zeros_like(batch.loss_rows);
  batch.target_offsets = at::arange(std::ssize(prompts) + 1, at::kLong);
  return batch;
}

Batch token_batch(const at::Tensor& tokens, const at::Tensor& positions) {
  const int64_t rows = tokens.size(0);
  Batch batch;
  batch.tokens = tokens;
  batch.positions = positions;
  batch.offsets = at::arange(rows + 1, at::kLong);
  batch.loss_rows = at::arange(rows, at::kLong);
  batch.targets = at::zeros({rows}, at::kLong);
  batch.target_offsets = batch.offsets;
  batch.longest = 1;
  return batch;
}

at::Tensor stream_tensor(const PositionRule& rule, const std::vector<double>& positions) {
  return at::tensor(positions, at::kDouble).to(rule.whole() ? at::kLong : at::kDouble);
}

std::vector<TextPositions> place_texts(const Placing& placing, std::span<const std::vector<int32_t>> texts,
                                       std::span<const int64_t> prompts) {
  std::vector<TextPositions> by_rule(placing.rules.size());
  for (size_t rule = 0; rule < by_rule.size(); ++rule) {
    for (size_t i = 0; i < texts.size(); ++i) {
      const auto prompt = static_cast<size_t>(prompts[i]);
      const PositionDraw draw = PositionDraw::fixed(std::span(texts[i]).first(prompt));
      by_rule[rule].push_back(placing.place(rule, texts[i], prompts[i], draw));
    }
  }
  return by_rule;
}

void for_groups(std::span<const std::vector<int32_t>> prompts, int64_t tokens,
                const std::function<void(size_t, std::span<const std::vector<int32_t>>)>& body) {
  for (size_t first = 0; first < prompts.size();) {
    size_t end = first;
    int64_t sum = 0;
    while (end < prompts.size() && (end == first || sum + std::ssize(prompts[end]) <= tokens)) {
      sum += std::ssize(prompts[end++]);
    }
    body(first, prompts.subspan(first, end - first));
    first = end;
  }
}

}  // namespace lengthwise
