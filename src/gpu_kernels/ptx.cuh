#pragma once
/// The few instructions that C++ has no name for: asynchronous copies to shared memory and 16-bit matrix products.
///
/// Fragments of mma m16n8k16, lane = 4 * group + quad:  A [16, 16]: registers hold (row group, columns 2 quad ..), (row
/// group + 8, same), (row group, columns 8 + 2 quad ..), (row group + 8, same).  B [16, 8]: (rows 2 quad .., column
/// group), (rows 8 + 2 quad .., column group).  C [16, 8]: (group, 2 quad), (group, 2 quad + 1), (group + 8, 2 quad),
/// (group + 8, 2 quad + 1).
#include <cuda_bf16.h>

#include <cstdint>

namespace lengthwise::gpu {

using bf16 = __nv_bfloat16;

/// 16 bytes to shared memory, or zeros when not `valid`; `from` is not read then.
__device__ __forceinline__ void copy_async(void* to, const void* from, bool valid) {
  const auto shared = static_cast<uint32_t>(__cvta_generic_to_shared(to));
  const int bytes = valid ? 16 : 0;
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared), "l"(from), "r"(bytes) : "memory");
}

/// The same for 4 bytes.
__device__ __forceinline__ void copy_async_word(void* to, const void* from, bool valid) {
  const auto shared = static_cast<uint32_t>(__cvta_generic_to_shared(to));
  const int bytes = valid ? 4 : 0;
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(shared), "l"(from), "r"(bytes) : "memory");
}

__device__ __forceinline__ void copies_commit() {
  asm volatile("cp.async.commit_group;" ::: "memory");
}

/// Waits until at most kPending of this thread's groups are still under way.
template <int kPending>
__device__ __forceinline__ void copies_wait() {
  asm volatile("cp.async.wait_group %0;" ::"n"(kPending) : "memory");
}

/// Four 8x8 matrices; lane l gives the address of row l % 8 of matrix l / 8.
__device__ __forceinline__ void load_matrices(uint32_t (&to)[4], const bf16* row) {
  const auto shared = static_cast<uint32_t>(__cvta_generic_to_shared(row));
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(shared)
               : "memory");
}

/// The same, each matrix transposed on the way.
__device__ __forceinline__ void load_matrices_transposed(uint32_t (&to)[4], const bf16* row) {
  const auto shared = static_cast<uint32_t>(__cvta_generic_to_shared(row));
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(shared)
               : "memory");
}

/// c += a b, bfloat16 operands, float sums.
__device__ __forceinline__ void multiply_add(float (&c)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

/// Two floats as bfloat16, the first in the lower half.
__device__ __forceinline__ uint32_t pack(float low, float high) {
  uint32_t packed;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(packed) : "f"(high), "f"(low));
  return packed;
}

/// Two floats in half precision, the first in the lower half, and back.
__device__ __forceinline__ uint32_t pack_halves(float low, float high) {
  uint32_t packed;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(packed) : "f"(high), "f"(low));
  return packed;
}
__device__ __forceinline__ float low_half(uint32_t two) {
  float x;
  asm("{ .reg .f16 low, high; mov.b32 {low, high}, %1; cvt.f32.f16 %0, low; }" : "=f"(x) : "r"(two));
  return x;
}
__device__ __forceinline__ float high_half(uint32_t two) {
  float x;
  asm("{ .reg .f16 low, high; mov.b32 {low, high}, %1; cvt.f32.f16 %0, high; }" : "=f"(x) : "r"(two));
  return x;
}

/// 2^x, relative error 2^-22; 0 for x = -inf.
__device__ __forceinline__ float exp2_fast(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

/// x / y and the root of x, relative errors 2^-22; denormal numbers count as 0.
__device__ __forceinline__ float divide_fast(float x, float y) {
  float z;
  asm("div.approx.ftz.f32 %0, %1, %2;" : "=f"(z) : "f"(x), "f"(y));
  return z;
}
__device__ __forceinline__ float reciprocal_fast(float x) {
  float y;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
__device__ __forceinline__ float root_fast(float x) {
  float y;
  asm("sqrt.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

/// Two signed numbers in 16 bits each, the nearest where they do not fit; `low` in the lower half.
__device__ __forceinline__ uint32_t pack_saturated(int32_t low, int32_t high) {
  uint32_t packed;
  asm("cvt.pack.sat.s16.s32 %0, %1, %2;" : "=r"(packed) : "r"(high), "r"(low));
  return packed;
}

/// Predicated stores. Unlike a branch around stores they leave the loads and the arithmetic before them where they are,
/// so that nothing has to wait for the condition.
__device__ __forceinline__ void store_if(bool condition, float4* to, float4 x) {
  asm volatile("{.reg .pred p; setp.ne.u32 p, %0, 0; @p st.global.v4.f32 [%1], {%2, %3, %4, %5};}" ::"r"(
                   static_cast<uint32_t>(condition)),
               "l"(to), "f"(x.x), "f"(x.y), "f"(x.z), "f"(x.w)
               : "memory");
}
__device__ __forceinline__ void store_if(bool condition, uint2* to, uint2 x) {
  asm volatile("{.reg .pred p; setp.ne.u32 p, %0, 0; @p st.global.v2.u32 [%1], {%2, %3};}" ::"r"(
                   static_cast<uint32_t>(condition)),
               "l"(to), "r"(x.x), "r"(x.y)
               : "memory");
}

}  // namespace lengthwise::gpu
