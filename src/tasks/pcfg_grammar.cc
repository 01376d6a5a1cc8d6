#include "tasks/pcfg_grammar.h"

#include <algorithm>
#include <cmath>

namespace lengthwise {
namespace {

constexpr double kBinaryWeight = 0.604;
constexpr double kBinaryDecay = 0.8972;
constexpr double kDepthWeight = 0.9925;

constexpr double kOne = 4294967296.0;

uint64_t draw32(Rng& rng) {
  return rng.next();
}

}  // namespace

PcfgShape::PcfgShape(int64_t functions) {
  double weight = kBinaryWeight;
  for (int64_t i = 0; i < functions; ++i) weight *= kBinaryDecay;
  const auto size = static_cast<size_t>(functions);
  std::vector<double> all{1.0};  // A
  binary_.push_back(0);
  first_.emplace_back();
  double flat = 1;
  for (size_t m = 1; m <= size; ++m, flat *= kDepthWeight) {
    std::vector<double> sums;
    double sum = 0;
    for (size_t i = 0; i < m; ++i) sums.push_back(sum += all[i] * all[m - 1 - i]);
    const double binary = weight * sum;
    binary_.push_back(static_cast<uint64_t>(std::llround(kOne * binary / (all[m - 1] + binary))));
    std::vector<uint64_t>& cumulative = first_.emplace_back();
    for (const double up_to : sums) cumulative.push_back(static_cast<uint64_t>(std::llround(kOne * up_to / sum)));
    all.push_back(flat * (all[m - 1] + binary));
  }
}

const PcfgShape& PcfgShape::of(int64_t functions, int64_t version) {
  static const std::vector<PcfgShape> corpus = [] {
    std::vector<PcfgShape> shapes;
    for (int64_t n = 0; n <= kPcfgCorpusFunctions; ++n) shapes.push_back(PcfgShape(n));
    return shapes;
  }();
  static const PcfgShape beyond;
  return version == 1 || functions > kPcfgCorpusFunctions ? beyond : corpus[static_cast<size_t>(functions)];
}

bool PcfgShape::draw_binary(Rng& rng, int64_t functions) const {
  if (binary_.empty()) return rng.below(1000) < 397;
  return draw32(rng) < binary_[static_cast<size_t>(functions)];
}

int64_t PcfgShape::draw_first(Rng& rng, int64_t functions) const {
  if (binary_.empty()) return static_cast<int64_t>(rng.below(static_cast<uint64_t>(functions)));
  const std::vector<uint64_t>& cumulative = first_[static_cast<size_t>(functions)];
  return std::upper_bound(cumulative.begin(), cumulative.end(), draw32(rng)) - cumulative.begin();
}

int draw_pcfg_literal(Rng& rng, int64_t version) {
  if (version == 1) {
    const uint64_t chance = rng.below(1000);
    return chance < 209 ? 2 : chance < 209 + 236 ? 3 : chance < 209 + 236 + 264 ? 4 : 5;
  }
  const uint64_t chance = rng.below(17 + 29 + 28 + 27);
  return chance < 17 ? 2 : chance < 17 + 29 ? 3 : chance < 17 + 29 + 28 ? 4 : 5;
}

}  // namespace lengthwise
