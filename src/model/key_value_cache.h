#pragma once
/// The keys and values that a decoder has seen, so that one more token costs one more row.
///
/// A row of the cache holds one sequence's keys from its first token on, so sequences of different length stand side by
/// side without being shifted by padding, and positions are each sequence's own; positions by other rules than the
/// index (data/placing.h) are kept beside them. Written with ordinary tensor operations over plain_attention, so it
/// serves every encoding on every device.
#include <cstdint>
#include <span>
#include <vector>

#include "batch/prompts.h"
#include "model/decoder.h"

namespace lengthwise {

class KeyValueCache {
 public:
  /// Room for `capacity` tokens of each of `batch` sequences.
  KeyValueCache(const Decoder& decoder, int64_t batch, int64_t capacity);

  /// Logits [batch, vocab] after one more token per sequence. tokens, positions [batch] int64; no sequence has more
  /// than `seen` tokens then. `advance` [batch] int64, 1 or 0: a sequence that does not advance forgets the token
  /// again; undefined: all do. Does not wait for the device, and can be captured into a graph. `streams` [batch] each,
  /// here and below: as a batch's (batch/batch.h).
  at::Tensor step(const at::Tensor& tokens, const at::Tensor& positions, int64_t seen, const at::Tensor& advance = {},
                  const std::vector<at::Tensor>& streams = {});

  /// Logits [batch, time, vocab] after `tokens` [batch, time] at `positions` [batch, time]; `lengths` [batch] says how
  /// many of them are real. Only on an empty cache.
  at::Tensor prefill(const at::Tensor& tokens, const at::Tensor& positions, const at::Tensor& lengths,
                     const std::vector<at::Tensor>& streams = {});

  /// Logits [batch, vocab] behind the last token of each prompt, at positions from 0 on. Rows without a prompt read one
  /// token. Only on an empty cache. `placed`: positions by every rule; empty: as a batch without them.
  at::Tensor read(std::span<const std::vector<int32_t>> prompts, std::span<const TextPositions> placed = {});

  /// Keeps only these sequences (indices into the batch).
  void keep(const at::Tensor& rows);

  /// Empties it.
  void clear();

  int64_t capacity() const { return key_positions_.size(1); }

 private:
  /// Hidden numbers [batch, time, width] behind the last layer. `alike`: all sequences have the same positions.
  at::Tensor advance(const at::Tensor& tokens, const at::Tensor& positions, int64_t seen, const at::Tensor& lengths,
                     const std::vector<at::Tensor>& streams, bool alike = false);
  /// The same on an empty cache.
  at::Tensor fill(const at::Tensor& tokens, const at::Tensor& positions, const at::Tensor& lengths,
                  const std::vector<at::Tensor>& streams, bool alike = false);
  at::Tensor logits(const at::Tensor& h) const;  ///< [..., vocab] of h [..., width]

  const Decoder& decoder_;
  bool empty_ = true;
  std::vector<at::Tensor> keys_, values_;  ///< per layer [batch, head, capacity, dim], keys rotated
  std::vector<at::Tensor> features_;       ///< per layer [batch, capacity, column]: the encoding's, of every key
  std::vector<at::Tensor> states_;         ///< per layer [batch, capacity, number]: the encoding's, of every key
  at::Tensor key_positions_;               ///< [batch, capacity]
  std::vector<at::Tensor> key_streams_;    ///< [batch, capacity], by rule
  at::Tensor filled_;                      ///< [batch] tokens so far
};

}  // namespace lengthwise
