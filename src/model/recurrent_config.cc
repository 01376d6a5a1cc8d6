// Sizes of recurrent networks.
#include "core/error.h"
#include "core/text.h"
#include "model/architectures.h"
#include "model/decoder.h"
#include "model/recurrent_network.h"
#include "recurrent/periods.h"

namespace lengthwise {
namespace {

constexpr int64_t kMostUnits = 65536;

void check_range(const char* name, int64_t value, int64_t low, int64_t high) {
  if (value < low || value > high) fail("--{} must be between {} and {}, not {}", name, low, high, value);
}

/// Options of the decoder that a recurrent network has no place for.
void refuse_decoder_options(const ModelConfig& config) {
  if (!config.encoding.empty()) {
    fail("--encoding {} goes with --architecture decoder; {} has no positional encoding", config.encoding,
         config.architecture);
  }
  const ModelConfig blank;
  std::vector<std::string> others;
  const auto note = [&](const char* name, const auto& value, const auto& usual) {
    if (value != usual) others.push_back(fmt::format("--{}", name));
  };
  note("heads", config.heads, blank.heads);
  note("head-dim", config.head_dim, blank.head_dim);
  note("ff-width", config.ff_width, blank.ff_width);
  note("score-scale", config.score_scale, blank.score_scale);
  note("norm", config.norm, blank.norm);
  const EncodingConfig usual;
  const EncodingConfig& options = config.encoding_options;
  note("rotary-fraction", options.rotary_fraction, usual.rotary_fraction);
  note("rotary-base", options.rotary_base, usual.rotary_base);
  note("t5-buckets", options.t5_buckets, usual.t5_buckets);
  note("t5-max-distance", options.t5_max_distance, usual.t5_max_distance);
  note("max-positions", options.max_positions, usual.max_positions);
  if (!others.empty()) {
    fail("{} {} with --architecture decoder, not with {}", join(others, ", "), others.size() == 1 ? "goes" : "go",
         config.architecture);
  }
}

/// The number of units, a multiple of the modules, whose parameters come nearest to `wanted`.
int64_t units_for(ModelConfig config, int64_t modules, int64_t wanted) {
  const auto count = [&](int64_t of_module) {
    config.hidden = of_module * modules;
    return count_recurrent_parameters(config);
  };
  int64_t low = 1;
  int64_t high = kMostUnits / modules;
  while (low < high) {
    const int64_t middle = (low + high) / 2;
    if (count(middle) < wanted) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  if (low > 1 && wanted - count(low - 1) < count(low) - wanted) --low;
  return low * modules;
}

}  // namespace

ModelConfig resolve_recurrent(const ModelConfig& config, int64_t vocabulary_size) {
  refuse_decoder_options(config);
  const Architecture& architecture = find_architecture(config.architecture);
  const auto decoder = [&](const std::string& preset) {
    ModelConfig like;
    like.model = preset;
    like.vocab_rows = config.vocab_rows;
    return resolve(like, vocabulary_size);
  };
  const ModelConfig preset = decoder(config.model);
  ModelConfig full = config;
  if (full.layers == 0) full.layers = 1;
  if (full.width == 0) full.width = preset.width;
  if (full.dropout < 0) full.dropout = preset.dropout;
  if (full.dropout > 0.999) fail("--dropout must be at most 0.999, not {}", full.dropout);
  full.vocab_rows = preset.vocab_rows;
  check_range("layers", full.layers, 1, 1000);
  check_range("width", full.width, 1, 65536);
  if (!architecture.clocked && !full.periods.empty()) {
    fail("--periods goes with --architecture cwrnn, not with {}, which has no clocks", full.architecture);
  }
  const std::vector<int64_t> periods = !architecture.clocked  ? std::vector<int64_t>{1}
                                       : full.periods.empty() ? usual_periods()
                                                              : read_periods(full.periods);
  if (architecture.clocked) full.periods = periods_text(periods);
  if (full.hidden != 0 && !full.like.empty()) fail("--hidden and --like exclude each other");
  if (full.hidden == 0) {
    full.hidden =
        units_for(full, std::ssize(periods), count_decoder_parameters(full.like.empty() ? preset : decoder(full.like)));
  }
  full.like.clear();  // what it said is in the number of units now
  check_range("hidden", full.hidden, 1, kMostUnits);
  if (full.hidden % std::ssize(periods) != 0) {
    fail("--hidden {} is not a multiple of the {} modules of --periods {}", full.hidden, periods.size(), full.periods);
  }
  return full;
}

void refuse_recurrent_options(const ModelConfig& config) {
  std::vector<std::string> others;
  if (config.hidden != 0) others.emplace_back("--hidden");
  if (!config.like.empty()) others.emplace_back("--like");
  if (!config.periods.empty()) others.emplace_back("--periods");
  if (others.empty()) return;
  fail("{} {} with a recurrent --architecture, not with decoder", join(others, ", "),
       others.size() == 1 ? "goes" : "go");
}

}  // namespace lengthwise
