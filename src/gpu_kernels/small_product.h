#pragma once
/// Products of small bfloat16 matrices, c [m, n] = a [m, k] b [k, n], sums in float, all row-major.
///
/// The runs of small models share the chip. A product of cuBLAS takes whole multiprocessors for itself; here a block
/// has 128 threads and 37 KB of shared memory, and six of them, of any runs, fit on one. For larger products cuBLAS is
/// faster: it uses the instructions that need a whole multiprocessor.
///
/// A block makes one tile of 64 x 64. Where there are few tiles, k is cut into runs of kRun, each with a block of its
/// own; the last one to end adds all partial sums, in the order of the runs: the same bits every time.
#include "gpu_kernels/launch.h"

namespace lengthwise::gpu {

/// A product of any size: what cuBLAS is asked for is described in the same way (gpu/products.cc).
struct Product {
  int64_t m = 0, n = 0, k = 0;
  const void* a = nullptr;  ///< [m, k], or [k, m] when transposed
  int64_t a_stride = 0;     ///< elements from one row to the next
  bool a_transposed = false;
  const void* b = nullptr;  ///< [k, n], or [n, k] when transposed
  int64_t b_stride = 0;
  bool b_transposed = false;
  void* c = nullptr;
  int64_t c_stride = 0;
  Storage c_storage = Storage::bfloat16;
  float* parts = nullptr;       ///< scratch: small_product_parts()
  uint32_t* tickets = nullptr;  ///< [kSmallProductTickets], zeros before and after
};

inline constexpr int64_t kSmallProductTickets = 128;

/// Whether the operands lie so that 16 bytes can be read at a time, and the scratch suffices.
bool small_product_fits(const Product& args, int64_t parts_room);

/// Floats of scratch, 0 where k is not cut.
int64_t small_product_parts(int64_t m, int64_t n, int64_t k);

void small_product(const Product& args, cudaStream_t stream);

}  // namespace lengthwise::gpu
