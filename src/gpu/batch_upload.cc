#include "gpu/batch_upload.h"

#include <ATen/ATen.h>

#include <algorithm>

namespace lengthwise {
namespace {

/// Copies `from` and fills the rest of `capacity` places.
int32_t* append(int32_t* to, const at::Tensor& from, int64_t capacity, int32_t filler) {
  const auto* values = from.const_data_ptr<int64_t>();
  const int64_t count = from.numel();
  for (int64_t i = 0; i < count; ++i) to[i] = static_cast<int32_t>(values[i]);
  std::fill(to + count, to + capacity, filler);
  return to + capacity;
}

}  // namespace

void upload_batch(const Batch& batch, const PassShape& shape, DecoderPasses& passes, cudaStream_t stream) {
  const gpu::DeviceBatch to = passes.batch(shape);
  const int64_t size = 2 * shape.tokens + shape.sequences + 1 + 2 * shape.targets;
  const at::Tensor staged = at::empty({size}, at::TensorOptions().dtype(at::kInt).pinned_memory(true));
  auto* const begin = staged.data_ptr<int32_t>();
  int32_t* at = begin;
  at = append(at, batch.tokens, shape.tokens, 0);
  at = append(at, batch.positions, shape.tokens, 0);
  at = append(at, batch.offsets, shape.sequences + 1, 0);
  at = append(at, batch.loss_rows, shape.targets, -1);
  append(at, batch.targets, shape.targets, 0);
  const int32_t* from = begin;
  const auto copy = [&](int32_t* target, int64_t count) {
    gpu::check_cuda(cudaMemcpyAsync(target, from, static_cast<size_t>(count) * 4, cudaMemcpyHostToDevice, stream),
                    "upload of a batch");
    from += count;
  };
  copy(to.tokens, shape.tokens);
  copy(to.positions, shape.tokens);
  copy(to.offsets, shape.sequences + 1);
  copy(to.loss_rows, shape.targets);
  copy(to.targets, shape.targets);
  gpu::StepState state;
  state.tokens = static_cast<int32_t>(batch.token_count());
  state.targets = static_cast<int32_t>(batch.target_count());
  gpu::check_cuda(cudaMemcpyAsync(passes.state(), &state, sizeof(state), cudaMemcpyHostToDevice, stream),
                  "upload of a batch");
  gpu::check_cuda(cudaStreamSynchronize(stream), "upload of a batch");
}

}  // namespace lengthwise
