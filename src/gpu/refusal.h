#pragma once
/// What the GPU's kernels cannot run, told before anything is made.
#include <cstdint>
#include <string>

#include "model/model_config.h"

namespace lengthwise {

/// Why a model does not run on a GPU: one clause, or empty where it does. `model` must be resolved; `batch_size`:
/// sequences of a training step; `longest`: tokens of the longest one, as far as it is known. Built without CUDA as
/// well.
std::string gpu_refuses(const ModelConfig& model, int64_t batch_size = 1, int64_t longest = 0);

}  // namespace lengthwise
