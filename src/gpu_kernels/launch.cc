#include "gpu_kernels/launch.h"

#include <stdexcept>

namespace lengthwise::gpu {

void require(bool holds, const std::string& message) {
  if (!holds) throw std::logic_error(message);
}

void check_cuda(cudaError_t status, const char* what) {
  if (status != cudaSuccess) throw std::logic_error(std::string(what) + ": " + cudaGetErrorString(status));
}

}  // namespace lengthwise::gpu
