#include "analysis/probe_rows.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "core/rng.h"
#include "model/inspect.h"

namespace lengthwise {
namespace {

at::Tensor indices(const std::vector<int64_t>& values, at::Device device) {
  return at::tensor(values, at::kLong).to(device);
}

}  // namespace

ProbePart part_of(size_t sequence, size_t sequences) {
  const size_t fit = sequences / 2;
  if (sequence < fit) return ProbePart::fit;
  return sequence < fit + std::max<size_t>(1, sequences / 5) ? ProbePart::choose : ProbePart::test;
}

std::vector<ProbePlace> sample_places(const std::vector<InputGroup>& groups, int64_t tokens, uint64_t seed) {
  std::vector<ProbePlace> places;
  const Rng rng = Rng(seed).stream("places");
  for (size_t g = 0; g < groups.size(); ++g) {
    for (size_t s = 0; s < groups[g].sequences.size(); ++s) {
      const std::vector<int64_t>& sequence = groups[g].sequences[s].tokens;
      std::vector<int64_t> all(sequence.size() - 1);
      std::iota(all.begin(), all.end(), 1);
      Rng own = rng.at(g).stream("sequence").at(s);
      own.shuffle(std::span(all));
      all.resize(std::min(all.size(), static_cast<size_t>(tokens)));
      std::sort(all.begin(), all.end());
      for (const int64_t place : all) places.push_back({g, s, place, sequence[static_cast<size_t>(place)]});
    }
  }
  return places;
}

at::Tensor collect_states(const Model& model, const std::vector<InputGroup>& groups,
                          const std::vector<ProbePlace>& places) {
  const ModelConfig& config = model.config();
  at::Tensor states =
      at::zeros({config.layers + 1, static_cast<int64_t>(places.size()), std::max(config.width, config.hidden)},
                at::TensorOptions(at::kFloat).device(model.device()));
  for (size_t begin = 0; begin < places.size();) {
    const ProbePlace& first = places[begin];
    std::vector<int64_t> wanted;
    while (begin + wanted.size() < places.size() && places[begin + wanted.size()].group == first.group &&
           places[begin + wanted.size()].sequence == first.sequence)
      wanted.push_back(places[begin + wanted.size()].place);
    const at::Tensor rows = indices(wanted, model.device());
    const std::vector<at::Tensor> hidden =
        model.hidden(placed_sequence(model, groups[first.group].sequences[first.sequence].tokens));
    for (size_t layer = 0; layer < hidden.size(); ++layer) {
      states[static_cast<int64_t>(layer)]
          .narrow(0, static_cast<int64_t>(begin), rows.size(0))
          .narrow(1, 0, hidden[layer].size(1))
          .copy_(hidden[layer].index_select(0, rows));
    }
    begin += wanted.size();
  }
  return states;
}

at::Tensor token_states(const std::vector<ProbePlace>& places, at::Device device) {
  std::map<int64_t, int64_t> column;
  for (const ProbePlace& place : places) column.emplace(place.token, static_cast<int64_t>(column.size()));
  at::Tensor states =
      at::zeros({1, static_cast<int64_t>(places.size()), static_cast<int64_t>(column.size())}, at::kFloat);
  auto at = states.accessor<float, 3>();
  for (size_t i = 0; i < places.size(); ++i) at[0][static_cast<int64_t>(i)][column[places[i].token]] = 1;
  return states.to(device);
}

FeatureRows ProbeTarget::features(const at::Tensor& states) const {
  const at::Tensor first = indices(later, states.device());
  const at::Tensor second = earlier.empty() ? at::Tensor() : indices(earlier, states.device());
  return [states, first, second](const at::Tensor& rows) {
    const at::Tensor of_first = states.index_select(1, first.index_select(0, rows));
    if (!second.defined()) return of_first;
    return at::cat({of_first, states.index_select(1, second.index_select(0, rows))}, -1);
  };
}

ProbeTarget position_target(const std::vector<ProbePlace>& places) {
  ProbeTarget target{.name = "position", .later = {}, .earlier = {}, .labels = {}};
  for (size_t i = 0; i < places.size(); ++i) {
    target.later.push_back(static_cast<int64_t>(i));
    target.labels.push_back(static_cast<double>(places[i].place));
  }
  return target;
}

ProbeTarget distance_target(const std::vector<ProbePlace>& places, uint64_t seed) {
  ProbeTarget target{.name = "distance", .later = {}, .earlier = {}, .labels = {}};
  const Rng rng = Rng(seed).stream("pairs");
  size_t first = 0;
  for (size_t i = 0; i < places.size(); ++i) {
    if (places[i].group != places[first].group || places[i].sequence != places[first].sequence) first = i;
    if (i == first) continue;
    const size_t other = first + rng.at(i).stream("other").below(i - first);
    target.later.push_back(static_cast<int64_t>(i));
    target.earlier.push_back(static_cast<int64_t>(other));
    target.labels.push_back(static_cast<double>(places[i].place - places[other].place));
  }
  return target;
}

}  // namespace lengthwise
