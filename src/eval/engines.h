#pragma once
/// Which engine runs a model: the CPU's or the GPU's, by where its parameters lie.
#include <memory>
#include <optional>
#include <string>

#include "infer/greedy.h"
#include "model/architectures.h"
#include "model/decoder.h"
#include "train/learner.h"

namespace lengthwise {

/// A model on `cpu` or `cuda`; without a seed its parameters are zeros, for weights that come from elsewhere. On a GPU
/// the calling thread gets a stream of its own.
std::unique_ptr<Model> make_model(const ModelConfig& config, std::optional<int64_t> seed, const std::string& device);
/// The same where it must be a decoder.
std::unique_ptr<Decoder> make_decoder(const ModelConfig& config, std::optional<int64_t> seed,
                                      const std::string& device);

/// precision_here (runtime/settings.h) for this model: recurrent networks compute in fp32, whatever the device has.
std::string precision_of(const ModelConfig& model, const std::string& precision, const std::string& device);

std::unique_ptr<Learner> make_learner(const TrainConfig& config, const TokenSet& examples, Model& model,
                                      TrainState& state);

/// generate_greedy (infer/greedy.h) on whichever device.
std::vector<std::vector<int32_t>> generate_answers(Model& model, const std::vector<std::vector<int32_t>>& prompts,
                                                   const GreedyOptions& options,
                                                   const std::function<void(int64_t)>& progress = nullptr);

/// `precision` as in TrainConfig, resolved.
std::unique_ptr<Scorer> make_scorer(Model& model, const std::string& precision);

}  // namespace lengthwise
