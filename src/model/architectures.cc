#include "model/architectures.h"

#include "core/error.h"
#include "core/text.h"
#include "model/decoder.h"
#include "model/recurrent_network.h"
#include "recurrent/clockwork.h"
#include "recurrent/lstm.h"
#include "recurrent/periods.h"

namespace lengthwise {
namespace {

std::unique_ptr<RecurrentLayer> make_clockwork(Parameters& parameters, const std::string& prefix, int64_t inputs,
                                               const ModelConfig& config) {
  return std::make_unique<ClockworkLayer>(parameters, prefix, inputs, config.hidden, read_periods(config.periods));
}

std::unique_ptr<RecurrentLayer> make_plain(Parameters& parameters, const std::string& prefix, int64_t inputs,
                                           const ModelConfig& config) {
  return std::make_unique<ClockworkLayer>(parameters, prefix, inputs, config.hidden, std::vector<int64_t>{1});
}

std::unique_ptr<RecurrentLayer> make_lstm(Parameters& parameters, const std::string& prefix, int64_t inputs,
                                          const ModelConfig& config) {
  return std::make_unique<LstmLayer>(parameters, prefix, inputs, config.hidden);
}

// One line per architecture.
constexpr Architecture kArchitectures[] = {
    {"decoder", "Decoder", "Transformer", false, nullptr},
    {"cwrnn", "Clockwork RNN", "recurrent, modules with clocks of their own", true, make_clockwork},
    {"rnn", "RNN", "plain recurrent", false, make_plain},
    {"lstm", "LSTM", "recurrent with gates", false, make_lstm},
};

}  // namespace

std::span<const Architecture> architectures() {
  return kArchitectures;
}

const Architecture& find_architecture(const std::string& name) {
  std::vector<std::string> names;
  for (const Architecture& one : kArchitectures) {
    if (one.name == name) return one;
    names.emplace_back(one.name);
  }
  fail("there is no architecture '{}'; there are {}{}", excerpt(name), join(names, ", "), did_you_mean(name, names));
}

const char* architectures_help() {
  static const std::string help = [] {
    std::vector<std::string> parts;
    for (const Architecture& one : kArchitectures) parts.push_back(fmt::format("{} ({})", one.name, one.summary));
    return "kind of model: " + join(parts, ", ");
  }();
  return help.c_str();
}

std::unique_ptr<Model> make_model(const ModelConfig& config, std::optional<uint64_t> seed, at::ScalarType type,
                                  at::Device device) {
  if (config.is_decoder()) return std::make_unique<Decoder>(config, seed, type, device);
  return std::make_unique<RecurrentNetwork>(config, seed, type, device);
}

int64_t count_parameters(const ModelConfig& config) {
  return config.is_decoder() ? count_decoder_parameters(config) : count_recurrent_parameters(config);
}

}  // namespace lengthwise
