#include "eval/engines.h"

#include "core/device_gate.h"
#include "gpu/gpu.h"
#include "gpu/refusal.h"
#include "model/cpu_engine.h"
#include "model/plain_scorer.h"
#include "train/trainable.h"

namespace lengthwise {
namespace {

bool on_gpu(const Decoder& decoder) {
  return decoder.parameters().values().is_cuda();
}

bool fused_on_gpu(const Decoder& decoder, int64_t batch_size = 1, int64_t longest = 0) {
  return decoder.fused() && gpu_refuses(decoder.config(), batch_size, longest).empty();
}

}  // namespace

std::unique_ptr<Decoder> make_decoder(const ModelConfig& config, int64_t seed, const std::string& device) {
  std::shared_lock<std::shared_mutex> gate;
  if (device == "cuda") {
    use_own_gpu_stream();
    gate = std::shared_lock(device_gate());
  }
  return std::make_unique<Decoder>(config, static_cast<uint64_t>(seed), at::kFloat,
                                   device == "cuda" ? at::kCUDA : at::kCPU);
}

std::unique_ptr<Learner> make_learner(const TrainConfig& config, const TokenSet& examples, Decoder& decoder,
                                      TrainState& state) {
  if (!on_gpu(decoder)) return make_cpu_learner(config, examples, decoder, state);
  return fused_on_gpu(decoder, config.batch_size, longest_sequence(examples))
             ? make_gpu_learner(config, examples, decoder, state)
             : make_plain_learner_with(config, examples, decoder, state,
                                       make_captured_gradients(decoder, arithmetic_of(config.precision)));
}

std::vector<std::vector<int32_t>> generate_answers(Decoder& decoder, const std::vector<std::vector<int32_t>>& prompts,
                                                   const GreedyOptions& options,
                                                   const std::function<void(int64_t)>& progress) {
  // Steps that are captured know no positions but the index.
  return on_gpu(decoder) && decoder.placing().rules.empty() ? gpu_generate_greedy(decoder, prompts, options, progress)
                                                            : generate_greedy(decoder, prompts, options, progress);
}

std::unique_ptr<Scorer> make_scorer(Decoder& decoder, const std::string& precision) {
  if (on_gpu(decoder) && fused_on_gpu(decoder)) return make_gpu_scorer(decoder, precision);
  if (on_gpu(decoder)) return std::make_unique<PlainScorer>(decoder, arithmetic_of(precision));
  return std::make_unique<CpuEngine>(decoder, arithmetic_of(precision));
}

}  // namespace lengthwise
