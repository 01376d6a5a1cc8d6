#include "model/model_config.h"

#include <algorithm>
#include <cmath>

#include "core/config.h"
#include "core/error.h"
#include "core/text.h"
#include "model/architectures.h"
#include "positional/named.h"

namespace lengthwise {
namespace {

struct Preset {
  const char* name;
  int64_t layers, width, heads, ff_width;
  double dropout;
  const char* score_scale;
};

// `base` is the paper's. The small ones are for CPUs and a few thousand steps, in which unscaled scores learn
// unsteadily and dropout keeps attention from learning to count.
constexpr Preset kPresets[] = {
    {"tiny", 2, 128, 4, 512, 0.0, "rsqrt"},
    {"small", 4, 256, 8, 1024, 0.0, "rsqrt"},
    {"base", 12, 768, 12, 3072, 0.1, "none"},
};

const Preset& find_preset(const std::string& name) {
  std::vector<std::string> names;
  for (const Preset& preset : kPresets) {
    if (preset.name == name) return preset;
    names.emplace_back(preset.name);
  }
  fail("there is no model '{}'; there are {}{}", name, join(names, ", "), did_you_mean(name, names));
}

void check_range(const char* name, int64_t value, int64_t low, int64_t high) {
  if (value < low || value > high) fail("--{} must be between {} and {}, not {}", name, low, high, value);
}

}  // namespace

ModelConfig resolve(const ModelConfig& config, int64_t vocabulary_size) {
  if (find_architecture(config.architecture).make_layer != nullptr) return resolve_recurrent(config, vocabulary_size);
  refuse_recurrent_options(config);
  const Preset& preset = find_preset(config.model);
  ModelConfig full = config;
  if (full.layers == 0) full.layers = preset.layers;
  if (full.width == 0) full.width = preset.width;
  if (full.heads == 0) full.heads = preset.heads;
  if (full.ff_width == 0) full.ff_width = config.width == 0 ? preset.ff_width : 4 * full.width;
  if (full.dropout < 0) full.dropout = preset.dropout;
  if (full.score_scale == "preset") full.score_scale = preset.score_scale;
  if (full.vocab_rows == 0) full.vocab_rows = vocabulary_size;
  check_range("layers", full.layers, 1, 1000);
  check_range("width", full.width, 1, 65536);
  check_range("heads", full.heads, 1, 1024);
  if (full.head_dim == 0) {
    if (full.width % full.heads != 0) {
      fail("--width {} is not a multiple of --heads {}; give --head-dim", full.width, full.heads);
    }
    full.head_dim = full.width / full.heads;
  }
  check_range("head-dim", full.head_dim, 1, 1024);
  check_range("ff-width", full.ff_width, 1, 1 << 20);
  // Masks are drawn from 16 bits: closer to 1, everything or, in the GPU's arithmetic, nothing would be dropped.
  if (full.dropout > 0.999) fail("--dropout must be at most 0.999, not {}", full.dropout);
  if (full.vocab_rows < vocabulary_size) {
    fail("--vocab-rows {} is fewer than the {} tokens of the vocabulary", full.vocab_rows, vocabulary_size);
  }
  score_scale_of(full);
  if (full.norm != "rms" && full.norm != "none") fail("--norm must be rms or none, not '{}'", full.norm);
  fold_encoding(full);
  kinds_of(full);  // made once, so that what cannot be is refused here
  return full;
}

void fold_encoding(ModelConfig& config) {
  if (!config.is_decoder()) return;
  if (config.encoding.empty()) config.encoding = "nope";
  EncodingFlags flags, defaults;
  const auto list = [](EncodingConfig options, EncodingFlags& to) {
    options.visit([&](const char* name, auto& value, const char*) { to.emplace_back(name, to_text(value)); });
  };
  list(config.encoding_options, flags);
  list({}, defaults);
  std::erase_if(flags, [&](const auto& flag) { return std::ranges::count(defaults, flag) > 0; });
  config.encoding = to_text(read_encoding(config.encoding, flags));
  config.encoding_options = {};
}

EncodingShape encoding_shape(const ModelConfig& config, at::ScalarType type, at::Device device) {
  return {config.layers, config.heads, config.head_dim,       config.width,
          type,          device,       config.trained_length, config.trained_room};
}

uint32_t kinds_of(const ModelConfig& config) {
  Parameters parameters;
  const EncodingShape shape = encoding_shape(config, at::kFloat, at::kCPU);
  const auto encoding = make_encoding(read_encoding(config.encoding), shape, {parameters, "encoding."});
  parameters.allocate_zeros(at::kFloat);
  return kinds_of(*encoding, shape);
}

double score_scale_of(const ModelConfig& config) {
  if (config.score_scale == "none") return 1.0;
  if (config.score_scale == "rsqrt") return 1.0 / std::sqrt(static_cast<double>(config.head_dim));
  fail("--score-scale must be none or rsqrt, not '{}'", config.score_scale);
}

}  // namespace lengthwise
