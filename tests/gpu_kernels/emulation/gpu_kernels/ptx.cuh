#pragma once
/// In place of src/gpu_kernels/ptx.cuh: what the instructions do, on the CPU.
#include <cuda_bf16.h>
#include <cuda_runtime.h>

namespace lengthwise::gpu {

using bf16 = __nv_bfloat16;

inline void copy_async(void* to, const void* from, bool valid) {
  emulator::copy_later(to, valid ? from : nullptr, 16);
}
inline void copy_async_word(void* to, const void* from, bool valid) {
  emulator::copy_later(to, valid ? from : nullptr, 4);
}
inline void copies_commit() {
  emulator::commit_copies();
}
template <int kPending>
void copies_wait() {
  emulator::wait_for_copies(kPending);
}

namespace detail {

inline const bf16* row_of(const unsigned char* slots, int lane) {
  const bf16* row;
  std::memcpy(&row, slots + static_cast<size_t>(lane) * emulator::kSlot, sizeof(row));
  return row;
}

inline uint32_t join(bf16 low, bf16 high) {
  return static_cast<uint32_t>(low.bits) | static_cast<uint32_t>(high.bits) << 16;
}

}  // namespace detail

inline void load_matrices(uint32_t (&to)[4], const bf16* row) {
  const unsigned char* slots = emulator::exchange(&row, sizeof(row));
  const int lane = static_cast<int>(threadIdx.x % 32);
  for (int i = 0; i < 4; ++i) {
    const bf16* from = detail::row_of(slots, 8 * i + lane / 4) + lane % 4 * 2;
    to[i] = detail::join(from[0], from[1]);
  }
}

inline void load_matrices_transposed(uint32_t (&to)[4], const bf16* row) {
  const unsigned char* slots = emulator::exchange(&row, sizeof(row));
  const int lane = static_cast<int>(threadIdx.x % 32);
  for (int i = 0; i < 4; ++i) {
    to[i] = detail::join(detail::row_of(slots, 8 * i + lane % 4 * 2)[lane / 4],
                         detail::row_of(slots, 8 * i + lane % 4 * 2 + 1)[lane / 4]);
  }
}

inline void multiply_add(float (&c)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
  const uint32_t mine[6] = {a[0], a[1], a[2], a[3], b0, b1};
  const unsigned char* slots = emulator::exchange(mine, sizeof(mine));
  // Register `word` of `lane`, lower or upper half.
  const auto value = [&](int lane, int word, int half) {
    uint32_t pair;
    std::memcpy(&pair, slots + static_cast<size_t>(lane) * emulator::kSlot + 4 * static_cast<size_t>(word), 4);
    return std::bit_cast<float>(half == 0 ? pair << 16 : pair & 0xffff0000u);
  };
  const int group = static_cast<int>(threadIdx.x % 32) / 4;
  const int quad = static_cast<int>(threadIdx.x % 4);
  for (int e = 0; e < 4; ++e) {
    const int column = 2 * quad + e % 2;
    float sum = c[e];
    for (int k = 0; k < 16; ++k) {
      sum += value(4 * group + k % 8 / 2, 2 * (k / 8) + e / 2, k % 2) * value(4 * column + k % 8 / 2, 4 + k / 8, k % 2);
    }
    c[e] = sum;
  }
}

inline uint32_t pack(float low, float high) {
  return detail::join(__float2bfloat16(low), __float2bfloat16(high));
}

namespace detail {

/// Half precision, of numbers in its range: rounded to nearest even.
inline uint32_t half_of(float x) {
  const float size = std::fabs(x);
  int exponent = 0;
  const float fraction = std::frexp(size, &exponent);  // [0.5, 1)
  // Below 2^-14 numbers have fewer digits.
  const float bits = exponent < -13
                         ? std::nearbyint(std::ldexp(size, 24))
                         : static_cast<float>((exponent + 14) * 1024) + std::nearbyint(fraction * 2048) - 1024;
  return static_cast<uint32_t>(bits) | (std::signbit(x) ? 0x8000u : 0u);
}
inline float half_value(uint32_t bits) {
  const int exponent = static_cast<int>(bits >> 10 & 31);
  const auto digits = static_cast<float>(bits & 1023);
  const float size = exponent == 0 ? std::ldexp(digits, -24) : std::ldexp(digits + 1024, exponent - 25);
  return (bits & 0x8000u) != 0 ? -size : size;
}

}  // namespace detail

inline uint32_t pack_halves(float low, float high) {
  return detail::half_of(low) | detail::half_of(high) << 16;
}
inline float low_half(uint32_t two) {
  return detail::half_value(two & 0xffffu);
}
inline float high_half(uint32_t two) {
  return detail::half_value(two >> 16);
}

inline float exp2_fast(float x) {
  return std::exp2(x);
}
inline float divide_fast(float x, float y) {
  return x / y;
}
inline float reciprocal_fast(float x) {
  return 1 / x;
}
inline float root_fast(float x) {
  return std::sqrt(x);
}

inline uint32_t pack_saturated(int32_t low, int32_t high) {
  const auto half = [](int32_t x) { return static_cast<uint32_t>(std::clamp(x, -0x8000, 0x7fff)) & 0xffffu; };
  return half(low) | half(high) << 16;
}

template <class T>
void store_if(bool condition, T* to, T x) {
  if (condition) *to = x;
}

}  // namespace lengthwise::gpu
