#pragma once
/// Products of a warpgroup (four warps; wgmma, compute capability 9.0a): D [64, n] (+)= A [64, 16] B [16, n], bfloat16
/// operands and float sums, which run beside everything else until they are waited for.
///
/// Each warp has 16 rows of D, and of A where that is in registers, in the fragments of ptx.cuh: c[i] is D's block of
/// columns 8 i .. 8 i + 7. What lies in shared memory is described by descriptors (group_tiles.cuh).
///
/// Order: group_begin(), products, group_commit(); then group_wait() before their sums are read, before registers of A
/// change and before shared memory does. All lanes of all four warps take part.
///
/// A in registers is made anew for every product: the assembler of CUDA 13.0 gives the registers of an A that lives
/// through a loop to another A of the same size inside it (seen on the device, and in its machine code).
#include "gpu_kernels/ptx.cuh"

namespace lengthwise::gpu {

inline constexpr int kGroupThreads = 128;

/// How a matrix lies in shared memory: from `start` on, 8 rows of kRowBytes each, the next 8 of them `stride` bytes
/// further on; blocks of columns beyond kRowBytes `leading` bytes further on (in transposed matrices alone). Chunks of
/// 16 bytes are exchanged within rows: bits 4 to 6 of an address by bits 7 to 9 (as many as kRowBytes has).
template <int kRowBytes>
__device__ __forceinline__ uint64_t matrix_descriptor(const void* start, int leading, int stride) {
  static_assert(kRowBytes == 32 || kRowBytes == 64 || kRowBytes == 128);
  constexpr uint64_t kExchange = kRowBytes == 128 ? 1 : kRowBytes == 64 ? 2 : 3;
  const auto shared = static_cast<uint32_t>(__cvta_generic_to_shared(start));
  return (static_cast<uint64_t>(shared & 0x3ffff) >> 4) | static_cast<uint64_t>(leading >> 4) << 16 |
         static_cast<uint64_t>(stride >> 4) << 32 | kExchange << 62;
}

/// What this thread copied or wrote to shared memory becomes visible to products behind the block's next barrier.
__device__ __forceinline__ void group_publish() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}
__device__ __forceinline__ void group_begin() {
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}
__device__ __forceinline__ void group_commit() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}

/// Waits until at most kPending of the committed batches are under way; `sums` are of those that have ended.
template <int kPending, int kBlocks>
__device__ __forceinline__ void group_wait(float (&sums)[kBlocks][4]) {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(kPending) : "memory");
#pragma unroll
  for (int n = 0; n < kBlocks; ++n) {
    // So that the compiler does not read them earlier.
    asm volatile("" : "+f"(sums[n][0]), "+f"(sums[n][1]), "+f"(sums[n][2]), "+f"(sums[n][3])::"memory");
  }
}

#define LENGTHWISE_BLOCK(n) "+f"(c[n][0]), "+f"(c[n][1]), "+f"(c[n][2]), "+f"(c[n][3])

/// c = a b, or c += a b if `add`. Rows of A and columns of B are rows of their memory.
__device__ __forceinline__ void multiply_tiles(float (&c)[4][4], uint64_t a, uint64_t b, bool add) {
  asm volatile(
      "{.reg .pred p; setp.ne.b32 p, %18, 0;"
      "wgmma.mma_async.sync.aligned.m64n32k16.f32.bf16.bf16 "
      "{%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15}, "
      "%16, %17, p, 1, 1, 0, 0;}"
      : LENGTHWISE_BLOCK(0), LENGTHWISE_BLOCK(1), LENGTHWISE_BLOCK(2), LENGTHWISE_BLOCK(3)
      : "l"(a), "l"(b), "r"(static_cast<uint32_t>(add))
      : "memory");
}

__device__ __forceinline__ void multiply_tiles(float (&c)[8][4], uint64_t a, uint64_t b, bool add) {
  asm volatile(
      "{.reg .pred p; setp.ne.b32 p, %34, 0;"
      "wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 "
      "{%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,"
      "%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31}, "
      "%32, %33, p, 1, 1, 0, 0;}"
      : LENGTHWISE_BLOCK(0), LENGTHWISE_BLOCK(1), LENGTHWISE_BLOCK(2), LENGTHWISE_BLOCK(3), LENGTHWISE_BLOCK(4),
        LENGTHWISE_BLOCK(5), LENGTHWISE_BLOCK(6), LENGTHWISE_BLOCK(7)
      : "l"(a), "l"(b), "r"(static_cast<uint32_t>(add))
      : "memory");
}

/// c += a b. Columns of A and rows of B are rows of their memory.
__device__ __forceinline__ void add_turned_tiles(float (&c)[4][4], uint64_t a, uint64_t b) {
  asm volatile(
      "wgmma.mma_async.sync.aligned.m64n32k16.f32.bf16.bf16 "
      "{%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15}, "
      "%16, %17, 1, 1, 1, 1, 1;"
      : LENGTHWISE_BLOCK(0), LENGTHWISE_BLOCK(1), LENGTHWISE_BLOCK(2), LENGTHWISE_BLOCK(3)
      : "l"(a), "l"(b)
      : "memory");
}

/// c += a b. Rows of B are rows of its memory.
__device__ __forceinline__ void multiply_weights(float (&c)[2][4], const uint32_t (&a)[4], uint64_t b) {
  asm volatile(
      "wgmma.mma_async.sync.aligned.m64n16k16.f32.bf16.bf16 "
      "{%0,%1,%2,%3,%4,%5,%6,%7}, "
      "{%8,%9,%10,%11}, %12, 1, 1, 1, 1;"
      : LENGTHWISE_BLOCK(0), LENGTHWISE_BLOCK(1)
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b)
      : "memory");
}

__device__ __forceinline__ void multiply_weights(float (&c)[4][4], const uint32_t (&a)[4], uint64_t b) {
  asm volatile(
      "wgmma.mma_async.sync.aligned.m64n32k16.f32.bf16.bf16 "
      "{%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15}, "
      "{%16,%17,%18,%19}, %20, 1, 1, 1, 1;"
      : LENGTHWISE_BLOCK(0), LENGTHWISE_BLOCK(1), LENGTHWISE_BLOCK(2), LENGTHWISE_BLOCK(3)
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b)
      : "memory");
}

__device__ __forceinline__ void multiply_weights(float (&c)[8][4], const uint32_t (&a)[4], uint64_t b) {
  asm volatile(
      "wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 "
      "{%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,"
      "%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31}, "
      "{%32,%33,%34,%35}, %36, 1, 1, 1, 1;"
      : LENGTHWISE_BLOCK(0), LENGTHWISE_BLOCK(1), LENGTHWISE_BLOCK(2), LENGTHWISE_BLOCK(3), LENGTHWISE_BLOCK(4),
        LENGTHWISE_BLOCK(5), LENGTHWISE_BLOCK(6), LENGTHWISE_BLOCK(7)
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b)
      : "memory");
}

__device__ __forceinline__ void multiply_weights(float (&c)[16][4], const uint32_t (&a)[4], uint64_t b) {
  asm volatile(
      "wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 "
      "{%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,"
      "%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31,"
      "%32,%33,%34,%35,%36,%37,%38,%39,%40,%41,%42,%43,%44,%45,%46,%47,"
      "%48,%49,%50,%51,%52,%53,%54,%55,%56,%57,%58,%59,%60,%61,%62,%63}, "
      "{%64,%65,%66,%67}, %68, 1, 1, 1, 1;"
      : LENGTHWISE_BLOCK(0), LENGTHWISE_BLOCK(1), LENGTHWISE_BLOCK(2), LENGTHWISE_BLOCK(3), LENGTHWISE_BLOCK(4),
        LENGTHWISE_BLOCK(5), LENGTHWISE_BLOCK(6), LENGTHWISE_BLOCK(7), LENGTHWISE_BLOCK(8), LENGTHWISE_BLOCK(9),
        LENGTHWISE_BLOCK(10), LENGTHWISE_BLOCK(11), LENGTHWISE_BLOCK(12), LENGTHWISE_BLOCK(13), LENGTHWISE_BLOCK(14),
        LENGTHWISE_BLOCK(15)
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b)
      : "memory");
}

#undef LENGTHWISE_BLOCK

}  // namespace lengthwise::gpu
