#pragma once
/// The list of architectures. A new recurrent network is a layer (recurrent/layer.h) and one line in architectures.cc;
/// help texts, errors and tests follow from it.
#include <memory>
#include <span>
#include <string>

#include "model/model.h"
#include "recurrent/layer.h"

namespace lengthwise {

struct Architecture {
  const char* name;     ///< of the option
  const char* label;    ///< in charts and prose
  const char* summary;  ///< for the help text
  bool clocked;         ///< whether it takes --periods
  /// A layer of a recurrent network that reads so many numbers of a token; nullptr: the decoder.
  std::unique_ptr<RecurrentLayer> (*make_layer)(Parameters& parameters, const std::string& prefix, int64_t inputs,
                                                const ModelConfig& config);
};

std::span<const Architecture> architectures();

/// UserError with the nearest name where there is none of this one.
const Architecture& find_architecture(const std::string& name);

/// A model of a resolved configuration. The numbers a parameter starts with depend on the seed and its name; without a
/// seed they are zeros, for weights that come from elsewhere.
std::unique_ptr<Model> make_model(const ModelConfig& config, std::optional<uint64_t> seed,
                                  at::ScalarType type = at::kFloat, at::Device device = at::kCPU);

/// How many numbers a model of this configuration learns, without making it. `config` must be resolved.
int64_t count_parameters(const ModelConfig& config);

/// resolve (model_config.h) of a recurrent network. UserError for options that belong to the decoder alone.
ModelConfig resolve_recurrent(const ModelConfig& config, int64_t vocabulary_size);

/// UserError for options of a decoder's configuration that belong to recurrent networks alone.
void refuse_recurrent_options(const ModelConfig& config);

}  // namespace lengthwise
