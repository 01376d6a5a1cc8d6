#include <ATen/ATen.h>
#include <c10/cuda/CUDAStream.h>

#include <algorithm>
#include <mutex>

#include "core/device_gate.h"
#include "gpu/captured_graph.h"
#include "gpu/gpu.h"
#include "gpu/out_of_memory.h"
#include "gpu_kernels/launch.h"
#include "infer/rounds.h"
#include "infer/steady_greedy.h"

namespace lengthwise {
namespace {

/// As many sequences at once as a quarter of the free memory has keys and values for, at most 16 GiB of them.
int64_t sequences_at_once(const Decoder& decoder, int64_t capacity, int64_t wanted) {
  size_t free = 0;
  size_t total = 0;
  gpu::check_cuda(cudaMemGetInfo(&free, &total), "free memory");
  const ModelConfig& config = decoder.config();
  const int64_t each = capacity * config.heads * config.head_dim * 2 * config.layers * int64_t{sizeof(float)};
  const int64_t budget = std::min<int64_t>(static_cast<int64_t>(free / 4), int64_t{16} << 30);
  return std::clamp<int64_t>(budget / each, 1, std::min<int64_t>(wanted, 512));
}

}  // namespace

std::vector<std::vector<int32_t>> gpu_generate_greedy(Decoder& decoder,
                                                      const std::vector<std::vector<int32_t>>& prompts,
                                                      const GreedyOptions& options,
                                                      const std::function<void(int64_t)>& progress) {
  std::vector<std::vector<int32_t>> answers(prompts.size());
  if (prompts.empty()) return answers;
  int64_t capacity = options.max_total_tokens;
  for (const auto& prompt : prompts) capacity = std::max(capacity, static_cast<int64_t>(prompt.size()) + 1);
  const auto count = static_cast<int64_t>(prompts.size());
  const int64_t batch = sequences_at_once(decoder, capacity, count);
  cudaStream_t stream = c10::cuda::getCurrentCUDAStream().stream();
  std::shared_lock gate(device_gate());
  const Capture capture = [&](const std::function<void()>& body) -> std::function<void()> {
    gate.unlock();
    std::shared_ptr<CapturedGraph> graph;
    {
      const std::unique_lock alone(device_gate());
      graph = CapturedGraph::if_possible(stream, body);
    }
    gate.lock();
    if (!graph) return body;
    return [graph] { graph->replay(); };
  };
  try {
    SteadyGreedy greedy(decoder, batch, capacity, capture);
    const auto generate = [&](std::span<const std::vector<int32_t>> texts, int64_t limit,
                              std::span<std::vector<int32_t>> written) { greedy.generate(texts, limit, written); };
    generate_in_rounds(prompts, batch, options.max_total_tokens, answers, generate, [&](int64_t done) {
      gate.unlock();  // others may want to capture
      if (progress) progress(done);
      gate.lock();
    });
  } catch (const c10::OutOfMemoryError&) {
    fail_out_of_memory(fmt::format("generating {} answers of up to {} tokens at once", batch, capacity));
  }
  return answers;
}

}  // namespace lengthwise
