#include "gpu/device_memory.h"

#include <ATen/ATen.h>

namespace lengthwise {
namespace {

constexpr int64_t kAlignment = 256;

}  // namespace

void DeviceMemory::add_bytes(void** pointer, int64_t bytes) {
  requests_.push_back({pointer, total_});
  total_ += (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

void DeviceMemory::allocate() {
  memory_ = at::zeros({total_}, at::TensorOptions(at::kCUDA).dtype(at::kByte));
  auto* base = memory_.data_ptr<uint8_t>();
  for (const Request& request : requests_) *request.pointer = base + request.at;
  requests_.clear();
}

}  // namespace lengthwise
