#include "model/clock_sketch.h"

#include <fmt/format.h>

#include <cmath>
#include <numbers>

#include "core/error.h"
#include "recurrent/periods.h"

namespace lengthwise {
namespace {

std::vector<double> counted(int64_t count) {
  std::vector<double> columns;
  for (int64_t i = 0; i < count; ++i) columns.push_back(static_cast<double>(i));
  return columns;
}

/// Drawings of wavelengths among others.
bool has_wavelengths(const Sketch& sketch) {
  return sketch.across == kPairsOfDims && !sketch.rows.empty();
}

std::string ladder(const std::string& what, const std::vector<double>& rungs) {
  const std::string ends = fmt::format("{:.3g} to {:.3g} tokens", rungs.front(), rungs.back());
  if (rungs.size() < 2) return fmt::format("{}: {:.3g} tokens", what, rungs.front());
  const double rise = std::pow(rungs.back() / rungs.front(), 1.0 / static_cast<double>(rungs.size() - 1));
  return fmt::format("{}: {}, {:.3g} times as long from one to the next", what, ends, rise);
}

}  // namespace

std::vector<Sketch> sketch_clocks(const std::vector<int64_t>& periods, int64_t length) {
  Sketch rungs{
      .title = "modules are computed once in so many tokens", .layers = "clockwork network", .across = "module"};
  rungs.columns = counted(std::ssize(periods));
  Sketch clocks{.title = "clocks: 1 where a module is computed",
                .layers = "clockwork network",
                .across = "position",
                .heat = true};
  clocks.columns = counted(length);
  std::vector<double> tokens;
  for (const int64_t period : periods) {
    tokens.push_back(static_cast<double>(period));
    std::vector<double> wave;
    for (int64_t t = 0; t < length; ++t) wave.push_back(ticks(period, t) ? 1 : 0);
    clocks.rows.emplace_back(fmt::format("period {}", period), std::move(wave));
  }
  rungs.rows.emplace_back("tokens", std::move(tokens));
  return {std::move(rungs), std::move(clocks)};
}

std::vector<Sketch> sketch_turns(const std::vector<Sketch>& sketches, const std::string& encoding, int64_t length) {
  std::vector<Sketch> turns;
  for (const Sketch& sketch : sketches) {
    if (!has_wavelengths(sketch)) continue;
    Sketch waves{.title = "rotations: cosine of the angle of a pair of dims",
                 .layers = sketch.layers,
                 .across = "position",
                 .heat = true};
    waves.columns = counted(length);
    for (const double wavelength : sketch.rows.front().second) {
      std::vector<double> wave;
      for (int64_t t = 0; t < length; ++t)
        wave.push_back(std::cos(2 * std::numbers::pi * static_cast<double>(t) / wavelength));
      waves.rows.emplace_back(fmt::format("turn {:.3g}", wavelength), std::move(wave));
    }
    turns.push_back(std::move(waves));
  }
  if (turns.empty()) {
    fail("--beside cwrnn draws clocks beside rotations, and the encoding {} turns nothing; rope does", encoding);
  }
  return turns;
}

std::string compare_ladders(const std::vector<int64_t>& periods, const std::vector<Sketch>& sketches) {
  std::string text = ladder("modules", {periods.begin(), periods.end()});
  for (const Sketch& sketch : sketches) {
    if (has_wavelengths(sketch)) return text + "; " + ladder("pairs of dims", sketch.rows.front().second);
  }
  return text;
}

}  // namespace lengthwise
