#pragma once
/// Many device buffers out of one allocation: all are named first, then laid out together.
#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

namespace lengthwise {

class DeviceMemory {
 public:
  /// `pointer` is set by `allocate`; it must stay where it is until then.
  template <class T>
  void add(T*& pointer, int64_t count) {
    add_bytes(reinterpret_cast<void**>(&pointer), count * static_cast<int64_t>(sizeof(T)));
  }
  void add_bytes(void** pointer, int64_t bytes);

  /// Zeros.
  void allocate();

  int64_t bytes() const { return total_; }

 private:
  struct Request {
    void** pointer;
    int64_t at;
  };
  std::vector<Request> requests_;
  int64_t total_ = 0;
  at::Tensor memory_;
};

}  // namespace lengthwise
