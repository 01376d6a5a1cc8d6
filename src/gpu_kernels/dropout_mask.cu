#include "gpu_kernels/device.cuh"
#include "gpu_kernels/dropout_mask.h"

namespace lengthwise::gpu {
namespace {

constexpr int kBlock = 256;

/// One thread for two neighbouring columns, which share their bits.
__global__ void __launch_bounds__(kBlock)
    write_mask(DropoutArgs dropout, int64_t elements, int64_t columns, int64_t pairs, float* out) {
  begin();
  const int64_t index = static_cast<int64_t>(blockIdx.x) * kBlock + threadIdx.x;
  const int64_t row = index / pairs;
  const int64_t column = 2 * (index % pairs);
  const int64_t place = row * columns + column;
  if (place >= elements) return;
  const Mask mask(dropout);
  const uint32_t bits =
      Mask::pair_bits(mask.row(static_cast<uint64_t>(row)), Mask::pair_key(static_cast<uint32_t>(column / 2)));
  out[place] = mask.keeps(bits, false) ? mask.scale() : 0.0f;
  if (column + 1 < columns) out[place + 1] = mask.keeps(bits, true) ? mask.scale() : 0.0f;
}

}  // namespace

void dropout_mask(const DropoutArgs& dropout, int64_t rows, int64_t columns, float* out, cudaStream_t stream) {
  require(dropout.active(), "a mask of dropout that drops nothing");
  if (rows == 0 || columns == 0) return;
  const int64_t pairs = (columns + 1) / 2;
  const int64_t blocks = (rows * pairs + kBlock - 1) / kBlock;
  launch("dropout_mask", write_mask, static_cast<unsigned>(blocks), kBlock, 0, stream, dropout, rows * columns, columns,
         pairs, out);
}

}  // namespace lengthwise::gpu
