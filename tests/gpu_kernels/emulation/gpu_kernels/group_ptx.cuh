#pragma once
/// In place of src/gpu_kernels/group_ptx.cuh: what products of a warpgroup do, on the CPU. They have ended when they
/// return; a warp's rows need no other warp.
#include "gpu_kernels/ptx.cuh"

namespace lengthwise::gpu {

inline constexpr int kGroupThreads = 128;

struct MatrixDescriptor {
  const unsigned char* start;
  int row_bytes, leading, stride;

  /// Element k of B's rows and n of its columns, found as the device does: the address is made first, then some of its
  /// bits exchange its chunks.
  float at(int k, int n, bool transposed) const {
    const int across = transposed ? n : k;  // along a row of the memory
    const int down = transposed ? k : n;
    const int width = row_bytes / 2;
    const auto offset = static_cast<uintptr_t>(across % width * 2 + across / width * leading + down % 8 * row_bytes +
                                               down / 8 * stride);
    auto address = reinterpret_cast<uintptr_t>(start) + offset;
    address ^= address >> 3 & static_cast<uintptr_t>(row_bytes - 16);
    return __bfloat162float(*reinterpret_cast<const bf16*>(address));
  }
};

template <int kRowBytes>
MatrixDescriptor matrix_descriptor(const void* start, int leading, int stride) {
  return {static_cast<const unsigned char*>(start), kRowBytes, leading, stride};
}

inline void group_publish() {}
inline void group_begin() {}
inline void group_commit() {}
template <int kPending, int kBlocks>
void group_wait(float (&)[kBlocks][4]) {}

namespace detail {

/// c (+)= a b, where a(row, k) gives the lane's upper (0) or lower (1) row of A.
template <int kBlocks, class OfA>
void multiply_group(float (&c)[kBlocks][4], const OfA& a, const MatrixDescriptor& b, bool transposed, bool add) {
  const int quad = static_cast<int>(threadIdx.x % 4);
  for (int row = 0; row < 2; ++row) {
    float of_a[16];
    for (int k = 0; k < 16; ++k) of_a[k] = a(row, k);
    for (int n = 0; n < kBlocks; ++n) {
      for (int e = 0; e < 2; ++e) {
        float& sum = c[n][2 * row + e];
        if (!add) sum = 0;
        for (int k = 0; k < 16; ++k) sum += of_a[k] * b.at(k, 8 * n + 2 * quad + e, transposed);
      }
    }
  }
}

}  // namespace detail

template <int kBlocks>
void multiply_tiles(float (&c)[kBlocks][4], const MatrixDescriptor& a, const MatrixDescriptor& b, bool add) {
  const int first = static_cast<int>(threadIdx.x % 128) / 32 * 16 + static_cast<int>(threadIdx.x % 32) / 4;
  detail::multiply_group(
      c, [&](int row, int k) { return a.at(k, first + 8 * row, false); }, b, false, add);
}

template <int kBlocks>
void add_turned_tiles(float (&c)[kBlocks][4], const MatrixDescriptor& a, const MatrixDescriptor& b) {
  const int first = static_cast<int>(threadIdx.x % 128) / 32 * 16 + static_cast<int>(threadIdx.x % 32) / 4;
  detail::multiply_group(
      c, [&](int row, int k) { return a.at(k, first + 8 * row, true); }, b, true, true);
}

template <int kBlocks>
void multiply_weights(float (&c)[kBlocks][4], const uint32_t (&a)[4], const MatrixDescriptor& b) {
  const unsigned char* slots = emulator::exchange(a, sizeof(a));
  const int group = static_cast<int>(threadIdx.x % 32) / 4;
  const auto of_a = [&](int row, int k) {
    uint32_t pair;
    const auto lane = static_cast<size_t>(4 * group + k % 8 / 2);
    std::memcpy(&pair, slots + lane * emulator::kSlot + 4 * static_cast<size_t>(2 * (k / 8) + row), 4);
    return std::bit_cast<float>(k % 2 == 0 ? pair << 16 : pair & 0xffff0000u);
  };
  detail::multiply_group(c, of_a, b, true, true);
}

}  // namespace lengthwise::gpu
