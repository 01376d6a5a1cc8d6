#pragma once
/// Greedy generation, batched, with a key-value cache.
///
/// Prompts of different length stand side by side: a cache row holds one sequence's keys from its first token on, so
/// nothing is shifted by padding, and positions are each sequence's own. Written with ordinary tensor operations over
/// plain_attention, so it serves every encoding.
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "model/decoder.h"

namespace lengthwise {

struct GreedyOptions {
  int64_t max_total_tokens = 256;  ///< prompt and answer; the study's limit without scratchpad
  int64_t batch_size = 256;        ///< sequences at once
};

/// For every prompt the tokens that follow, without the end marker. A sequence ends at the end marker or at the limit.
std::vector<std::vector<int32_t>> generate_greedy(const Decoder& decoder,
                                                  const std::vector<std::vector<int32_t>>& prompts,
                                                  const GreedyOptions& options,
                                                  const std::function<void(int64_t)>& progress = nullptr);

/// The keys and values seen so far, per layer.
class KeyValueCache {
 public:
  KeyValueCache(const Decoder& decoder, int64_t batch, int64_t capacity);

  /// Logits [batch, vocab] after one more token per sequence. tokens, positions [batch] int64.
  at::Tensor step(const at::Tensor& tokens, const at::Tensor& positions);

  /// Logits [batch, time, vocab] after `tokens` [batch, time] at `positions` [batch, time]; `lengths` [batch] says how
  /// many of them are real. Only on an empty cache.
  at::Tensor prefill(const at::Tensor& tokens, const at::Tensor& positions, const at::Tensor& lengths);

  /// Keeps only these sequences (indices into the batch).
  void keep(const at::Tensor& rows);

 private:
  at::Tensor advance(const at::Tensor& tokens, const at::Tensor& positions, const at::Tensor& lengths);

  const Decoder& decoder_;
  std::vector<at::Tensor> keys_, values_;  ///< per layer [batch, head, capacity, dim], keys rotated
  at::Tensor key_positions_;               ///< [batch, capacity]
  at::Tensor filled_;                      ///< [batch] tokens so far
};

}  // namespace lengthwise
