#include "eval/engines.h"

#include <ATen/Tensor.h>

#include "core/device_gate.h"
#include "core/error.h"
#include "gpu/gpu.h"
#include "gpu/refusal.h"
#include "model/plain_scorer.h"
#include "runtime/settings.h"
#include "train/trainable.h"

namespace lengthwise {
namespace {

bool on_gpu(const Model& model) {
  return model.device().is_cuda();
}

/// The model as a decoder that the fused kernels of the GPU run; nullptr: they do not run it.
Decoder* fused_on_gpu(Model& model, int64_t batch_size = 1, int64_t longest = 0) {
  Decoder* decoder = as_decoder(model);
  if (decoder == nullptr || !decoder->fused()) return nullptr;
  return gpu_refuses(model.config(), batch_size, longest).empty() ? decoder : nullptr;
}

}  // namespace

std::unique_ptr<Model> make_model(const ModelConfig& config, std::optional<int64_t> seed, const std::string& device) {
  const std::optional<uint64_t> own = seed ? std::optional(static_cast<uint64_t>(*seed)) : std::nullopt;
  if (device != "cuda") return make_model(config, own, at::kFloat, at::kCPU);
  // Drawn before the turn: a large model takes a while for it, in which the others can work.
  const std::unique_ptr<Model> drawn = own ? make_model(config, own, at::kFloat, at::kCPU) : nullptr;
  use_own_gpu_stream();
  const std::shared_lock turn(device_gate());
  std::unique_ptr<Model> model = make_model(config, std::nullopt, at::kFloat, at::kCUDA);
  if (drawn) model->parameters().values().copy_(drawn->parameters().values());
  return model;
}

std::unique_ptr<Decoder> make_decoder(const ModelConfig& config, std::optional<int64_t> seed,
                                      const std::string& device) {
  LENGTHWISE_CHECK(config.is_decoder(), "{} is no decoder", config.architecture);
  return std::unique_ptr<Decoder>(as_decoder(*make_model(config, seed, device).release()));
}

std::string precision_of(const ModelConfig& model, const std::string& precision, const std::string& device) {
  if (model.is_decoder()) return precision_here(precision, device);
  if (!precision.empty() && precision != "auto" && precision != "fp32") {
    fail("--precision {} goes with --architecture decoder; {} computes in fp32", precision, model.architecture);
  }
  return "fp32";
}

std::unique_ptr<Learner> make_learner(const TrainConfig& config, const TokenSet& examples, Model& model,
                                      TrainState& state) {
  if (!on_gpu(model)) return make_cpu_learner(config, examples, model, state);
  if (Decoder* fused = fused_on_gpu(model, config.batch_size, longest_sequence(examples)))
    return make_gpu_learner(config, examples, *fused, state);
  const Arithmetic arithmetic = arithmetic_of(config.precision);
  const Decoder* decoder = as_decoder(model);
  return make_plain_learner_with(
      config, examples, model, state,
      decoder != nullptr ? make_captured_gradients(*decoder, arithmetic) : make_plain_gradients(model, arithmetic));
}

std::vector<std::vector<int32_t>> generate_answers(Model& model, const std::vector<std::vector<int32_t>>& prompts,
                                                   const GreedyOptions& options,
                                                   const std::function<void(int64_t)>& progress) {
  Decoder* decoder = as_decoder(model);
  // Steps that are captured know no positions but the index.
  return decoder != nullptr && on_gpu(model) && model.placing().rules.empty()
             ? gpu_generate_greedy(*decoder, prompts, options, progress)
             : generate_greedy(model, prompts, options, progress);
}

std::unique_ptr<Scorer> make_scorer(Model& model, const std::string& precision) {
  if (!on_gpu(model)) return model.engine(arithmetic_of(precision));
  if (Decoder* fused = fused_on_gpu(model)) return make_gpu_scorer(*fused, precision);
  return std::make_unique<PlainScorer>(model, arithmetic_of(precision));
}

}  // namespace lengthwise
