#pragma once
/// Training and scoring on a GPU. In a build without CUDA the same functions say so (absent.cc).
#include <memory>
#include <string>

#include "infer/greedy.h"
#include "model/decoder.h"
#include "train/learner.h"
#include "train/plain_learner.h"

namespace lengthwise {

/// Gives the calling thread a stream of its own, on which everything it does on the GPU runs from then on: runs in
/// several threads share the GPU without waiting for each other. Nothing without a GPU.
void use_own_gpu_stream();

/// The decoder and the state's moments lie on the GPU; all arguments must outlive the learner. Whole steps are captured
/// into graphs, one for each bucket of token counts; the examples and their order lie on the device. The same seed
/// gives the same bits from run to run, and the same batches and dropout masks as on the CPU.
/// The thread must have called use_own_gpu_stream. `head_rows`: rows of targets whose logits exist at once; 0: what
/// memory and speed want (head_rows_for in gpu/decoder_passes.h). Tests ask for fewer.
std::unique_ptr<Learner> make_gpu_learner(const TrainConfig& config, const TokenSet& examples, Decoder& decoder,
                                          TrainState& state, int64_t head_rows = 0);

/// Gradients by the plain decoder on the GPU, whole steps captured into graphs, one for each room that a batch is laid
/// into (batch/room.h); large steps, and what cannot be captured, piece by piece. The thread must have called
/// use_own_gpu_stream.
std::unique_ptr<PlainGradients> make_captured_gradients(const Decoder& decoder, Arithmetic arithmetic);

/// generate_greedy (infer/greedy.h) for a decoder on the GPU: the same answers, by captured steps.
std::vector<std::vector<int32_t>> gpu_generate_greedy(Decoder& decoder,
                                                      const std::vector<std::vector<int32_t>>& prompts,
                                                      const GreedyOptions& options,
                                                      const std::function<void(int64_t)>& progress = nullptr);

/// For a decoder on the GPU. `precision` is fp32, tf32 or bf16; `head_rows`: as above.
std::unique_ptr<Scorer> make_gpu_scorer(Decoder& decoder, const std::string& precision, int64_t head_rows = 0);

/// The most bytes that this process has held on the GPU at once, as torch's allocator counts; 0 without one.
int64_t gpu_peak_bytes();

}  // namespace lengthwise
