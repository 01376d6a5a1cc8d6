#pragma once
/// Greedy generation with the kernels of training: prompts are read packed, as scoring does, and their keys and values
/// kept; a step of all sequences is one pass over their new tokens, captured once and replayed. The same answers as
/// SteadyGreedy (infer/steady_greedy.h), its plain twin, up to the rounding of `precision`.
#include "gpu/decoder_passes.h"
#include "gpu_kernels/cached_attention.h"
#include "infer/steady_steps.h"

namespace lengthwise {

class PackedGreedy {
 public:
  /// For up to `batch` prompts at a time, of which none, with its answer, has more than `capacity` tokens; on the
  /// thread's current stream. `precision`: fp32, tf32 or bf16. The encoding must be fused().
  PackedGreedy(Decoder& decoder, const std::string& precision, int64_t batch, int64_t capacity, Feeding feeding);

  /// Appends to the answers, as generate_greedy does. `limit`: of prompt and answer, at most the capacity.
  void generate(std::span<const std::vector<int32_t>> prompts, int64_t limit, std::span<std::vector<int32_t>> answers);

  /// Bytes of one sequence's keys and values.
  static int64_t bytes_each(const Decoder& decoder, gpu::Storage storage, int64_t capacity);

 private:
  struct LayerRows {
    void *keys = nullptr, *values = nullptr;
  };

  PackedGreedy(Decoder& decoder, const at::Tensor& mirror, bool tf32, int64_t batch, int64_t capacity, Feeding feeding);
  gpu::KeyValueRows rows_of(int64_t layer) const;
  void read(std::span<const std::vector<int32_t>> prompts, int64_t first);
  void begin(std::span<const std::vector<int32_t>> prompts);
  void choose(const int32_t* best);
  void step();
  bool any_alive() const;

  const Decoder& decoder_;
  gpu::Storage storage_;
  int64_t batch_, capacity_;
  Replays replays_;
  std::function<void()> wait_;
  cudaStream_t stream_;
  EncodingValues values_;
  DecoderPasses prompts_, steps_;
  PassShape step_shape_;
  int64_t first_row_ = 0;  ///< of the prompts that are being read
  DeviceMemory memory_;
  std::vector<LayerRows> layers_;
  int32_t *best_ = nullptr, *alive_ = nullptr, *made_ = nullptr;
};

}  // namespace lengthwise
