#pragma once
/// Batches of prompts whose next tokens are wanted, and of tokens that follow them.
#include <functional>
#include <span>
#include <vector>

#include "batch/batch.h"
#include "data/placing.h"

namespace lengthwise {

/// One target behind each prompt, at positions from 0 on; the targets themselves are 0.
Batch prompt_batch(std::span<const std::vector<int32_t>> prompts);

/// Sequences of one token each, a target behind it.
Batch token_batch(const at::Tensor& tokens, const at::Tensor& positions);

/// Positions by a rule as a tensor of its type.
at::Tensor stream_tensor(const PositionRule& rule, const std::vector<double>& positions);

/// Positions of the tokens of several texts by one rule, text by text.
using TextPositions = std::vector<std::vector<double>>;

/// By every rule, of texts that are being written; `prompts`: how many tokens of each are its prompt.
std::vector<TextPositions> place_texts(const Placing& placing, std::span<const std::vector<int32_t>> texts,
                                       std::span<const int64_t> prompts);

/// Calls body(first, prompts from there on) for groups of up to `tokens` tokens, or of one prompt.
void for_groups(std::span<const std::vector<int32_t>> prompts, int64_t tokens,
                const std::function<void(size_t, std::span<const std::vector<int32_t>>)>& body);

}  // namespace lengthwise
