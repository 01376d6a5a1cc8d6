#pragma once
/// Greedy generation, batched, with what a model keeps of its texts (model/continuation.h). Sequences that have ended
/// leave the batch when half of it has.
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "model/model.h"

namespace lengthwise {

struct GreedyOptions {
  int64_t max_total_tokens = 256;  ///< prompt and answer; the study's limit without scratchpad
  int64_t batch_size = 256;        ///< sequences at once, or fewer where what is kept of them would exceed a gibibyte
  std::string precision = "fp32";  ///< fp32 or bf16, on a GPU tf32 too
  /// How many tokens of each text are its prompt, by which random positions are drawn (data/placing.h); empty: all.
  std::vector<int64_t> prompt_tokens = {};
};

/// For every prompt the tokens that follow, without the end marker. A sequence ends at the end marker or at the limit.
std::vector<std::vector<int32_t>> generate_greedy(Model& model, const std::vector<std::vector<int32_t>>& prompts,
                                                  const GreedyOptions& options,
                                                  const std::function<void(int64_t)>& progress = nullptr);

}  // namespace lengthwise
