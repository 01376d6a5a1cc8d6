#pragma once
/// What the GPU's fused kernels do not run. Plain tensor operations run it there, some times slower.
#include <cstdint>
#include <string>

#include "model/model_config.h"

namespace lengthwise {

/// Why the fused kernels do not run a model: one clause, or empty where they do. `model` must be resolved;
/// `batch_size`: sequences of a training step; `longest`: tokens of the longest one, as far as it is known. Built
/// without CUDA as well.
std::string gpu_refuses(const ModelConfig& model, int64_t batch_size = 1, int64_t longest = 0);

/// The line for a user whose model runs plain on `device` (cpu or cuda) for this reason; empty where it does not.
std::string plain_note(const std::string& device, const std::string& refusal);

}  // namespace lengthwise
