#pragma once
/// Batches of prompts whose next tokens are wanted, and of tokens that follow them.
#include <functional>
#include <span>
#include <vector>

#include "batch/batch.h"

namespace lengthwise {

/// One target behind each prompt, at positions from 0 on; the targets themselves are 0.
Batch prompt_batch(std::span<const std::vector<int32_t>> prompts);

/// Sequences of one token each, a target behind it.
Batch token_batch(const at::Tensor& tokens, const at::Tensor& positions);

/// Calls body(first, prompts from there on) for groups of up to `tokens` tokens, or of one prompt.
void for_groups(std::span<const std::vector<int32_t>> prompts, int64_t tokens,
                const std::function<void(size_t, std::span<const std::vector<int32_t>>)>& body);

}  // namespace lengthwise
