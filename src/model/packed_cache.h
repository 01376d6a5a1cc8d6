#pragma once
/// The keys and values that a decoder has seen, kept by the fused engine of the CPU: prompts are read packed, and one
/// more token of all sequences is one pass over these tokens. Does what KeyValueCache (key_value_cache.h), its plain
/// twin, does, for encodings whose values are fused, and in the arithmetic that the decoder is scored in.
#include <span>
#include <vector>

#include "batch/prompts.h"
#include "kernels/cached_attention.h"
#include "model/cpu_engine.h"
#include "positional/fused_values.h"

namespace lengthwise {

class PackedCache {
 public:
  /// Room for `capacity` tokens of each of `batch` sequences.
  PackedCache(Decoder& decoder, Arithmetic arithmetic, int64_t batch, int64_t capacity);
  PackedCache(const PackedCache&) = delete;
  PackedCache& operator=(const PackedCache&) = delete;

  /// The best token [batch] int64 behind each of as many prompts as there are sequences, at positions from 0 on.
  /// `placed`: positions by every rule of the encoding; empty: as a batch without them.
  at::Tensor read(std::span<const std::vector<int32_t>> prompts, std::span<const TextPositions> placed = {});

  /// The best tokens behind one more token of each sequence. tokens, positions [batch] int64; a position is one more
  /// than the last, or the same: then the new token takes the last one's place. It is the place in the cache as well;
  /// positions by other rules, [batch] each, are in `streams`.
  at::Tensor step(const at::Tensor& tokens, const at::Tensor& positions, const std::vector<at::Tensor>& streams = {});

  /// Keeps only these sequences (indices into the batch).
  void keep(const at::Tensor& rows);

 private:
  const Placing& placing_;
  CpuEngine engine_;
  std::vector<KeptKeys> kept_;  ///< per layer
  FusedValues values_;          ///< their tables [head, capacity]
  int64_t first_ = 0;           ///< row of the prompts that are being read
  at::Tensor places_;           ///< of the tokens of a step; undefined: prompts are being read
};

}  // namespace lengthwise
