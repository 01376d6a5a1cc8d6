#include "recurrent/waveform.h"

#include <cmath>
#include <iostream>
#include <memory>

#include "cli/commands.h"
#include "cli/options.h"
#include "core/error.h"
#include "core/json.h"
#include "core/progress.h"
#include "core/table.h"
#include "recurrent/periods.h"
#include "runtime/settings.h"

namespace lengthwise {
namespace {

struct WaveformSettings {
  WaveformOptions options;
  int64_t waveforms = 5;
  std::string periods = periods_text(WaveformOptions{}.periods);
  int64_t seed = 1;
  int64_t threads = 1;
  bool json = false;
  bool quiet = false;

  template <class Visitor>
  void visit(Visitor&& field) {
    field("waveforms", waveforms, "waveforms that are drawn, each learned by networks of its own");
    field("samples", options.samples, "of a waveform");
    field("parameters", options.parameters, "of each network, as nearly as its units allow");
    field("periods", periods, "of the clockwork network's modules");
    field("steps", options.steps, "of training");
    field("lr", options.lr, "learning rate of the first step; it falls to 0");
    field("seed", seed, "of waveforms and initial weights");
    field("threads", threads, "CPU threads; the networks are small, and more than one rarely helps");
    field("json", json, "one JSON object a line, with the samples");
    field("quiet", quiet, "no progress");
  }
};

void check(const char* option, int64_t value, int64_t low, int64_t high) {
  if (value < low || value > high) fail("--{} must be between {} and {}, not {}", option, low, high, value);
}

void run(const WaveformSettings& settings) {
  check("waveforms", settings.waveforms, 1, 1000);
  check("samples", settings.options.samples, 2, 100'000);
  check("parameters", settings.options.parameters, 10, 1'000'000);
  check("steps", settings.options.steps, 1, 10'000'000);
  if (!(settings.options.lr > 0)) fail("--lr must be positive, not {}", settings.options.lr);
  set_threads(settings.threads);
  WaveformOptions options = settings.options;
  options.periods = read_periods(settings.periods);
  Progress progress(settings.quiet ? Progress::Mode::quiet : Progress::Mode::automatic);
  std::vector<std::string> header{"network", "units", "parameters", "mean error"};
  for (int64_t i = 0; i < settings.waveforms; ++i) header.push_back(fmt::format("waveform {}", i + 1));
  Table table(header);
  for (const std::string& network : waveform_networks()) {
    std::vector<std::string> cells;
    double sum = 0;
    WaveformFit fit;
    for (int64_t i = 0; i < settings.waveforms; ++i) {
      const auto seed = static_cast<uint64_t>(settings.seed * 1000 + i);
      const std::vector<double> target = draw_waveform(seed, options.samples);
      fit = fit_waveform(network, target, options, seed, [&](int64_t step) {
        progress.update(step, options.steps, fmt::format("{}, waveform {} of {}", network, i + 1, settings.waveforms));
      });
      sum += fit.error;
      cells.push_back(fmt::format("{:.4f}", fit.error));
      if (settings.json) {
        std::cout << json_text(Json{{"network", network},
                                    {"waveform", i + 1},
                                    {"units", fit.units},
                                    {"parameters", fit.parameters},
                                    {"error", fit.error},
                                    {"target", target},
                                    {"samples", fit.samples}})
                  << '\n';
      }
    }
    cells.insert(cells.begin(), {network, std::to_string(fit.units), std::to_string(fit.parameters),
                                 fmt::format("{:.4f}", sum / static_cast<double>(settings.waveforms))});
    table.add(cells);
  }
  if (settings.json) return;
  std::cout << fmt::format("{} samples from a constant input, normalised mean squared error after {} steps\n",
                           options.samples, options.steps)
            << table.to_string();
}

}  // namespace

void add_waveform_command(CLI::App& app) {
  CLI::App* command = app.add_subcommand("waveform", "let recurrent networks learn waveforms from a constant input");
  auto settings = std::make_shared<WaveformSettings>();
  add_options(*command, *settings);
  command->callback([settings] { run(*settings); });
}

}  // namespace lengthwise
