#pragma once
/// Greedy generation in steps of one shape, for devices that are fed faster than they are asked: the batch does not
/// shrink, sequences that have ended stand still, and the host looks only now and then whether all have. A step can be
/// captured and replayed. The same answers as generate_greedy (greedy.h), which tests hold it against.
#include "infer/greedy.h"
#include "infer/steady_steps.h"
#include "model/key_value_cache.h"

namespace lengthwise {

class SteadyGreedy {
 public:
  /// For up to `batch` prompts at a time, of which none, with its answer, has more than `capacity` tokens.
  SteadyGreedy(const Decoder& decoder, int64_t batch, int64_t capacity, Feeding feeding);

  /// Appends to the answers, as generate_greedy does. `limit`: of prompt and answer, at most the capacity.
  void generate(std::span<const std::vector<int32_t>> prompts, int64_t limit, std::span<std::vector<int32_t>> answers);

 private:
  void begin(std::span<const std::vector<int32_t>> prompts);
  void step(int64_t seen);
  void choose(const at::Tensor& logits);

  int64_t batch_;
  Replays replays_;  ///< by the keys that a step looks at
  std::function<void()> wait_;
  KeyValueCache cache_;
  at::Tensor current_;   ///< [batch] the last token of each sequence
  at::Tensor position_;  ///< [batch] its position
  at::Tensor alive_;     ///< [batch] int64: 1 until the end marker or the last place
  at::Tensor made_;      ///< [batch, capacity] tokens chosen so far, at their own positions
};

}  // namespace lengthwise
