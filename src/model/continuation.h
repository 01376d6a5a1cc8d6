#pragma once
/// Texts that are continued one token at a time, by whatever a model keeps of what it has read: keys and values of all
/// tokens, or a state of fixed size.
#include <span>
#include <vector>

#include "batch/prompts.h"

namespace lengthwise {

class Continuation {
 public:
  virtual ~Continuation() = default;

  /// The best token [text] int64, on the CPU, behind each of as many prompts as there are texts, at positions from 0
  /// on. `placed`: positions by every rule of the model's encoding; empty: as a batch without them.
  virtual at::Tensor read(std::span<const std::vector<int32_t>> prompts, std::span<const TextPositions> placed) = 0;

  /// The best tokens behind one more token of each text. tokens, positions [text] int64 on the CPU; positions by other
  /// rules, [text] each, are in `streams`. No text has more than `seen` tokens then. `alive` [text], 1 or 0: what
  /// comes of a text that has ended is not looked at any more.
  virtual at::Tensor step(const at::Tensor& tokens, const at::Tensor& positions, const std::vector<at::Tensor>& streams,
                          int64_t seen, const std::vector<int64_t>& alive) = 0;

  /// Keeps only these texts (indices int64, on the CPU).
  virtual void keep(const at::Tensor& rows) = 0;
};

}  // namespace lengthwise
