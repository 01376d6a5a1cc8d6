#include <ATen/ATen.h>
#include <c10/cuda/CUDAStream.h>

#include <algorithm>

#include "gpu/captured_graph.h"
#include "gpu/gated.h"
#include "gpu/gpu.h"
#include "gpu/gpu_scorer.h"
#include "gpu/out_of_memory.h"
#include "gpu/packed_greedy.h"
#include "gpu/refusal.h"
#include "gpu_kernels/launch.h"
#include "gpu_kernels/limits.h"
#include "infer/rounds.h"
#include "infer/steady_greedy.h"

namespace lengthwise {
namespace {

/// As many sequences at once as a quarter of the free memory has keys and values for, at most 16 GiB of them.
int64_t sequences_at_once(int64_t bytes_each, int64_t wanted, int64_t most) {
  const std::shared_lock turn(device_gate());
  size_t free = 0;
  size_t total = 0;
  gpu::check_cuda(cudaMemGetInfo(&free, &total), "free memory");
  const int64_t budget = std::min<int64_t>(static_cast<int64_t>(free / 4), int64_t{16} << 30);
  return std::clamp<int64_t>(budget / bytes_each, 1, std::min(wanted, most));
}

/// Places of a sequence up to which biases of all their pairs are kept: with twelve heads, 0.8 GB.
constexpr int64_t kMostPairPlaces = 4096;

/// Whether the kernels of training can write the answers; what they cannot is left to plain tensor operations.
bool packs(const Decoder& decoder, int64_t capacity) {
  return decoder.fused() && !decoder.follows_content() && !decoder.goes_by_rules() &&
         gpu_refuses(decoder.config()).empty() && capacity <= gpu::kMostKeptTokens &&
         (!decoder.goes_by_pairs() || capacity <= kMostPairPlaces) &&
         capacity <= decoder.encoding().position_limit().value_or(capacity);
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
  cudaStream_t stream = c10::cuda::getCurrentCUDAStream().stream();
  DeviceTurn turn(device_gate(), std::defer_lock);  // one for each batch of answers, left while it waits
  const Capture capture = [&](const std::function<void()>& body) -> std::function<void()> {
    const TurnLeft left(turn);
    const std::unique_lock alone(device_gate());
    const std::shared_ptr<CapturedGraph> graph = CapturedGraph::if_possible(stream, body);
    if (!graph) return body;
    return [graph] { graph->replay(); };
  };
  const auto wait = [&] {
    const TurnLeft left(turn);
    gpu::check_cuda(cudaStreamSynchronize(stream), "answers");
  };
  const auto in_rounds = [&](auto& greedy, int64_t batch) {
    const auto generate = [&](std::span<const std::vector<int32_t>> texts, int64_t limit,
                              std::span<std::vector<int32_t>> written) {
      const std::lock_guard in_turn(turn);
      greedy->generate(texts, limit, written);
    };
    generate_in_rounds(prompts, batch, options.max_total_tokens, answers, generate, [&](int64_t done) {
      if (progress) progress(done);
    });
  };
  int64_t batch = 0;
  try {
    if (packs(decoder, capacity)) {
      const gpu::Storage storage = options.precision == "bf16" ? gpu::Storage::bfloat16 : gpu::Storage::float32;
      batch = sequences_at_once(PackedGreedy::bytes_each(decoder, storage, capacity), count, 1024);
      Gated<PackedGreedy> greedy(decoder, options.precision, batch, capacity, Feeding{capture, wait});
      in_rounds(greedy, batch);
    } else {
      batch = sequences_at_once(PackedGreedy::bytes_each(decoder, gpu::Storage::float32, capacity), count, 512);
      Gated<SteadyGreedy> greedy(decoder, batch, capacity, Feeding{capture, wait});
      in_rounds(greedy, batch);
    }
  } catch (const c10::OutOfMemoryError&) {
    fail_out_of_memory(fmt::format("generating {} answers of up to {} tokens at once", batch, capacity));
  }
  return answers;
}

}  // namespace lengthwise
