#pragma once
/// What the launchers of all CUDA kernels share.
///
/// Every launcher takes raw device pointers and a stream, allocates nothing and waits for nothing, so that whole steps
/// can be captured into a graph and replayed without the host. What changes from step to step is read from device
/// memory (step_state.h). Launch shapes are made for a capacity of rows; kernels read the real count from device memory
/// and write zeros in the rows beyond, so that products and sums over the capacity see nothing else.
///
/// Activations are stored as float or bfloat16; arithmetic, statistics, gains, gradients of parameters and the residual
/// stream are float. Sums have one fixed order: the same inputs give the same bits. Pointers are aligned to 16 bytes.
///
/// A launcher that is given a shape it cannot run throws std::logic_error with one line that says which.
#include <cuda_runtime_api.h>

#include <cstdint>
#include <string>

namespace lengthwise::gpu {

enum class Storage { float32, bfloat16 };

constexpr int64_t bytes_of(Storage storage) {
  return storage == Storage::float32 ? 4 : 2;
}

/// kernels/dropout.h on the device: the same hash, hence the same masks as on the CPU. The seed of a place is
/// mix64(step seed + 64 * layer + place + 1), as in StepDropout::at.
struct DropoutArgs {
  uint32_t threshold = 0;          ///< an element is kept when its 16 bits, shifted by 16, are at least this; 0: off
  float scale = 1;                 ///< of what is kept
  uint64_t place = 0;              ///< 64 * layer + place + 1
  const uint64_t* seed = nullptr;  ///< device: the step's seed

  DropoutArgs() = default;
  DropoutArgs(double probability, const uint64_t* step_seed, int64_t place_index, int64_t layer)
      : threshold(static_cast<uint32_t>(probability * 65536.0 + 0.5) << 16),
        scale(static_cast<float>(1.0 / (1.0 - probability))),
        place(static_cast<uint64_t>(64 * layer + place_index + 1)),
        seed(step_seed) {}

  bool active() const { return threshold > 0; }
};

/// Throws unless `holds`; `message` says what was wrong and what would be right.
void require(bool holds, const std::string& message);

/// Throws when CUDA reports an error at the launch of `what`.
void check_cuda(cudaError_t status, const char* what);

}  // namespace lengthwise::gpu
