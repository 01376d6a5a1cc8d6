#pragma once
/// Tensors for the tests of the CUDA kernels: made on the CPU, copied to the device and back. Without CUDA the "device"
/// is the emulator (emulation/emulator.h).
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <vector>

#include "gpu_kernels/launch.h"

namespace lengthwise::gpu {

/// Whether a GPU or an emulated one is there; tests skip where it is not.
inline bool device_present() {
  int count = 0;
  return cudaGetDeviceCount(&count) == cudaSuccess && count > 0;
}

class GpuTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!device_present()) GTEST_SKIP() << "no GPU is present";
  }
};

class DeviceTensor {
 public:
  /// A copy of a CPU tensor.
  explicit DeviceTensor(const at::Tensor& tensor) : like_(tensor.contiguous()) {
    allocate();
    check_cuda(cudaMemcpy(pointer_, like_.const_data_ptr(), like_.nbytes(), cudaMemcpyHostToDevice), "copy");
  }
  /// Every byte 0xff: NaN, or -1. What a kernel does not write, a comparison sees.
  DeviceTensor(at::IntArrayRef shape, at::ScalarType type) : like_(at::empty(shape, type)) {
    allocate();
    check_cuda(cudaMemset(pointer_, 0xff, like_.nbytes()), "fill");
  }
  DeviceTensor(const DeviceTensor&) = delete;
  DeviceTensor& operator=(const DeviceTensor&) = delete;
  ~DeviceTensor() { cudaFree(pointer_); }

  template <class T = void>
  T* data() const {
    return static_cast<T*>(pointer_);
  }

  at::Tensor host() const {
    at::Tensor copy = at::empty_like(like_);
    check_cuda(cudaDeviceSynchronize(), "kernel");
    check_cuda(cudaMemcpy(copy.mutable_data_ptr(), pointer_, copy.nbytes(), cudaMemcpyDeviceToHost), "copy back");
    return copy;
  }

 private:
  void allocate() { check_cuda(cudaMalloc(&pointer_, std::max<size_t>(16, like_.nbytes())), "allocate"); }

  at::Tensor like_;
  void* pointer_ = nullptr;
};

/// One value of a plain type in device memory.
template <class T>
class DeviceValue {
 public:
  explicit DeviceValue(const T& value = {}) : bytes_({static_cast<int64_t>(sizeof(T))}, at::kByte) { set(value); }
  void set(const T& value) const {
    check_cuda(cudaMemcpy(bytes_.data(), &value, sizeof(T), cudaMemcpyHostToDevice), "copy");
  }
  T get() const {
    T value;
    const at::Tensor copy = bytes_.host();
    std::memcpy(&value, copy.const_data_ptr(), sizeof(T));
    return value;
  }
  T* data() const { return bytes_.data<T>(); }

 private:
  DeviceTensor bytes_;
};

inline at::ScalarType type_of(Storage storage) {
  return storage == Storage::float32 ? at::kFloat : at::kBFloat16;
}

inline double tolerance_of(Storage storage) {
  return storage == Storage::float32 ? 1e-5 : 1e-2;
}

/// |a - b| / |b| over all elements.
inline void expect_close(const at::Tensor& a, const at::Tensor& b, double tolerance, const char* what) {
  ASSERT_EQ(a.sizes(), b.sizes()) << what;
  const at::Tensor x = a.to(at::kDouble);
  const at::Tensor y = b.to(at::kDouble);
  const double size = std::max(1e-30, y.norm().item<double>());
  const double error = (x - y).norm().item<double>() / size;
  EXPECT_FALSE(std::isnan(error)) << what << " holds NaN: an element was not written or was computed from such a one";
  EXPECT_LE(error, tolerance) << what;
}

inline void expect_equal(const at::Tensor& a, const at::Tensor& b, const char* what) {
  ASSERT_EQ(a.nbytes(), b.nbytes()) << what;
  EXPECT_EQ(std::memcmp(a.const_data_ptr(), b.const_data_ptr(), a.nbytes()), 0) << what << " differs in its bits";
}

/// Rows `from` .. are zeros.
inline void expect_zero_rows(const at::Tensor& x, int64_t from, const char* what) {
  if (from >= x.size(0)) return;
  EXPECT_EQ(x.narrow(0, from, x.size(0) - from).to(at::kDouble).abs().sum().item<double>(), 0.0) << what;
}

}  // namespace lengthwise::gpu
