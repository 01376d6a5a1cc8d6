#pragma once
/// A second stream for products that nothing on the first one waits for until the end: gradients of weights. They fill
/// the chip while small kernels and the ends of other products leave parts of it idle. Capturing the first stream
/// captures this one along with it.
#include <optional>

#include "gpu/products.h"

namespace lengthwise {

class SideStream {
 public:
  SideStream(gpu::Storage operands, bool tf32);
  ~SideStream();
  SideStream(const SideStream&) = delete;
  SideStream& operator=(const SideStream&) = delete;

  cudaStream_t stream() const { return stream_; }
  Products& products() { return *products_; }

  /// What comes next here waits for all that was launched on `main`.
  void follow(cudaStream_t main);
  /// What comes next on `main` waits for all that was launched here.
  void lead(cudaStream_t main);

  /// Remembers what was launched here so far.
  void mark();
  /// What comes next on `main` waits for what the last mark remembers, if there is one since the last `lead`.
  void wait_for_mark(cudaStream_t main);

 private:
  cudaStream_t stream_ = nullptr;
  cudaEvent_t followed_ = nullptr, led_ = nullptr, marked_ = nullptr;
  bool has_mark_ = false;
  std::optional<Products> products_;
};

}  // namespace lengthwise
