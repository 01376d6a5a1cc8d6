#pragma once
/// Which engine runs a decoder: the CPU's or the GPU's, by where its parameters lie.
#include <memory>
#include <string>

#include "infer/greedy.h"
#include "model/scorer.h"
#include "train/learner.h"

namespace lengthwise {

/// A decoder on `cpu` or `cuda`. On a GPU the calling thread gets a stream of its own.
std::unique_ptr<Decoder> make_decoder(const ModelConfig& config, int64_t seed, const std::string& device);

std::unique_ptr<Learner> make_learner(const TrainConfig& config, const TokenSet& examples, Decoder& decoder,
                                      TrainState& state);

/// generate_greedy (infer/greedy.h) on whichever device.
std::vector<std::vector<int32_t>> generate_answers(Decoder& decoder, const std::vector<std::vector<int32_t>>& prompts,
                                                   const GreedyOptions& options,
                                                   const std::function<void(int64_t)>& progress = nullptr);

/// `precision` as in TrainConfig, resolved.
std::unique_ptr<Scorer> make_scorer(Decoder& decoder, const std::string& precision);

}  // namespace lengthwise
