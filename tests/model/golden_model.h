#pragma once
/// The model whose numbers tests/golden/make_golden.py computed, by the name of the golden file.
#include <map>
#include <string>

#include "model/model_config.h"

namespace lengthwise::testing_model {

/// Golden numbers with other options than the defaults, which those of a short sequence would not tell apart.
inline const std::map<std::string, std::string> kGoldenOptions{
    {"dynamic-ntk-short", "dynamic-ntk(factor=2,trained=8,fraction=1)"},
    {"rerope-leaky", "rerope(window=5,leak=0.25,fraction=1)"},
    {"self-extend-short", "self-extend(window=5,group=3,fraction=1)"},
    {"ssmax-all", "bam+ssmax(of=all)"},
};

inline ModelConfig golden_config(const std::string& name) {
  constexpr std::string_view kFull = "-full";  // the whole head turns
  ModelConfig config;
  config.layers = 2;
  config.width = 24;
  config.heads = 3;
  config.head_dim = 8;
  config.ff_width = 40;
  config.dropout = 0;
  config.score_scale = "none";
  const bool full = name.ends_with(kFull);
  config.encoding = full ? name.substr(0, name.size() - kFull.size()) : name;
  if (const auto found = kGoldenOptions.find(name); found != kGoldenOptions.end()) config.encoding = found->second;
  config.encoding_options.rotary_fraction = full ? 1.0 : 0.25;
  config.encoding_options.max_positions = 32;
  return resolve(config, 19);
}

}  // namespace lengthwise::testing_model
