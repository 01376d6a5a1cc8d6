#pragma once
/// The dropout of a step's passes as the CPU has it, to compare the GPU's with.
#include "core/rng.h"
#include "kernels/dropout.h"

namespace lengthwise::gpu {

inline constexpr uint64_t kStepSeed = 77;

inline Dropout on_the_cpu(double probability, uint64_t place, uint64_t layer) {
  return {probability, mix64(kStepSeed + 64 * layer + place + 1)};
}

}  // namespace lengthwise::gpu
