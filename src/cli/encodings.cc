#include <iostream>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/options.h"
#include "core/error.h"
#include "core/files.h"
#include "core/json.h"
#include "core/table.h"
#include "core/text.h"
#include "model/architectures.h"
#include "model/clock_sketch.h"
#include "model/decoder.h"
#include "model/encoding_sketch.h"
#include "positional/named.h"
#include "positional/registry.h"
#include "recurrent/periods.h"

namespace lengthwise {
namespace {

constexpr int64_t kMostShown = 65536;

/// How the list names an entry: one that is made of others needs some.
std::string example_of(const EncodingEntry& entry) {
  if (entry.least_parts == 0) return entry.info.name;
  return entry.info.name + (entry.most_parts == 1 ? "(rope)" : "(rope,nope)");
}

ModelConfig model_with(const std::string& encoding, const std::string& model) {
  ModelConfig config;
  config.model = model;
  config.encoding = encoding;
  return resolve(config, 32);
}

/// What it costs: parameters besides those of NoPE, and whether the fused kernels of each device apply it.
struct Cost {
  int64_t tiny = 0, base = 0;
  bool fused = false, fused_on_gpu = false;

  std::string kernels() const { return !fused ? "plain" : fused_on_gpu ? "fused" : "fused on the CPU, plain on a GPU"; }
};

Cost cost_of(const std::string& encoding) {
  const auto more = [&](const char* model) {
    return count_parameters(model_with(encoding, model)) - count_parameters(model_with("nope", model));
  };
  return {more("tiny"), more("base"), runs_fused(model_with(encoding, "tiny"), at::kCPU),
          runs_fused(model_with(encoding, "tiny"), at::kCUDA)};
}

std::string options_text(const EncodingEntry& entry) {
  std::vector<std::string> options;
  for (const EncodingOption& option : entry.options) options.push_back(option.name + "=" + option.fallback);
  return join(options, " ");
}

void list_as_json() {
  for (const EncodingEntry* entry : encodings()) {
    const EncodingInfo& info = entry->info;
    const Cost cost = cost_of(example_of(*entry));
    nlohmann::ordered_json options = nlohmann::ordered_json::array();
    for (const EncodingOption& option : entry->options) {
      options.push_back({{"name", option.name}, {"default", option.fallback}, {"help", option.help}});
    }
    std::cout << json_text(nlohmann::ordered_json{{"name", info.name},
                                                  {"label", info.label},
                                                  {"family", info.family},
                                                  {"formula", info.formula},
                                                  {"paper", info.paper},
                                                  {"learned", info.learned},
                                                  {"translation_invariant", info.translation_invariant},
                                                  {"aliases", info.aliases},
                                                  {"options", options},
                                                  {"fused", cost.fused},
                                                  {"fused_on_gpu", cost.fused_on_gpu},
                                                  {"parameters_tiny", cost.tiny},
                                                  {"parameters_base", cost.base}})
              << '\n';
  }
}

void list_as_table() {
  Table table({"name", "family", "formula", "options", "learned", "in base", "shift-invariant", "kernels", "paper"});
  for (const EncodingEntry* entry : encodings()) {
    const EncodingInfo& info = entry->info;
    const Cost cost = cost_of(example_of(*entry));
    table.add({info.name, info.family, info.formula, options_text(*entry), info.learned, std::to_string(cost.base),
               info.translation_invariant ? "yes" : "no", cost.kernels(), info.paper});
  }
  std::cout << table.to_string();
}

struct ShowSettings {
  std::string encoding;
  int64_t length = 64;
  std::string model = "tiny";
  std::string svg;
  std::string beside;
  std::string periods = periods_text(usual_periods());

  template <class Visitor>
  void visit(Visitor&& field) {
    field("length", length, "positions and distances that are shown");
    field("model", model, "preset of sizes: tiny, small or base");
    field("svg", svg, "write the drawing to this file as well");
    field("beside", beside, "cwrnn: draw the clocks of a clockwork network beside the encoding's rotations");
    field("periods", periods, "of these clocks, as 1,2,4");
  }
};

/// Adds two ladders of time scales, the encoding's rotations over positions, then clocks, and compares them in a line.
std::string put_beside(const ShowSettings& settings, const std::string& encoding, std::vector<Sketch>& sketches) {
  if (!find_architecture(settings.beside).clocked)
    fail("--beside must be cwrnn, whose modules have clocks, not {}", settings.beside);
  const std::vector<int64_t> periods = read_periods(settings.periods);
  const std::string line = compare_ladders(periods, sketches) + '\n';
  std::vector<Sketch> more = sketch_turns(sketches, encoding, settings.length);
  for (Sketch& sketch : sketch_clocks(periods, settings.length)) more.push_back(std::move(sketch));
  for (Sketch& sketch : more) sketches.push_back(std::move(sketch));
  return line;
}

void show(const ShowSettings& settings) {
  if (settings.length < 2 || settings.length > kMostShown) {
    fail("--length must be between 2 and {}, not {}", kMostShown, settings.length);
  }
  const ModelConfig config = model_with(settings.encoding, settings.model);
  const EncodingSpec spec = read_encoding(config.encoding);
  const EncodingInfo info = describe_encoding(spec);
  const Cost cost = cost_of(config.encoding);
  std::vector<Sketch> sketches = sketch_encoding(config, settings.length);
  const std::string ladders = settings.beside.empty() ? "" : put_beside(settings, info.name, sketches);
  std::cout << fmt::format("{}: {}\n", info.name, info.formula);
  if (!info.paper.empty()) std::cout << fmt::format("{}\n", info.paper);
  std::cout << fmt::format("learns {}{}; kernels: {}; shown as it starts in {}\n", info.learned,
                           cost.base > 0 ? fmt::format(" ({} numbers in base)", cost.base) : "", cost.kernels(),
                           settings.model);
  if (const EncodingEntry* entry = known_entry(spec.name); entry != nullptr) {
    for (const EncodingOption& option : entry->options) {
      std::cout << fmt::format("option {} ({}): {}\n", option.name, option.fallback, option.help);
    }
  }
  std::cout << ladders;
  for (const Sketch& sketch : sketches) std::cout << '\n' << sketch_text(sketch);
  if (!settings.svg.empty()) write_file(settings.svg, sketch_svg(info.label, sketches));
}

}  // namespace

void add_encodings_command(CLI::App& app) {
  CLI::App* command = app.add_subcommand("encodings", "list the positional encodings, or show what one does");
  const auto json = std::make_shared<bool>(false);
  command->add_flag("--json", *json, "one JSON object a line instead of a table");
  CLI::App* shown = command->add_subcommand("show", "what an encoding does, by distance, position, head and layer");
  const auto settings = std::make_shared<ShowSettings>();
  shown->add_option("ENCODING", settings->encoding, "as rope, 'rope(fraction=1)' or 'layers(rope,nope)'")->required();
  add_options(*shown, *settings);
  shown->callback([settings] { show(*settings); });
  command->require_subcommand(0, 1);
  command->callback([command, json] {
    if (!command->get_subcommands().empty()) return;
    if (*json) return list_as_json();
    list_as_table();
  });
}

}  // namespace lengthwise
