#include "analysis/probe_fits.h"

#include <ATen/ATen.h>

#include "analysis/ridge.h"
#include "analysis/side_by_side.h"
#include "core/rng.h"

namespace lengthwise {
namespace {

std::vector<double> to_vector(const at::Tensor& values) {
  const at::Tensor kept = values.to(at::kCPU).to(at::kDouble).contiguous();
  return {kept.const_data_ptr<double>(), kept.const_data_ptr<double>() + kept.numel()};
}

at::Tensor to_tensor(const std::vector<int64_t>& rows, at::Device device) {
  return at::tensor(rows, at::kLong).to(device);
}

std::vector<double> chosen(const std::vector<double>& values, const std::vector<int64_t>& rows) {
  std::vector<double> result;
  for (const int64_t row : rows) result.push_back(values[static_cast<size_t>(row)]);
  return result;
}

/// The labels that a probe is fitted on.
at::Tensor labels_of_fit(const ProbeTarget& target, const ProbeSplit& split, const ProbeFit& fit) {
  std::vector<double> labels = target.labels;
  if (fit.shuffled) {
    for (const ProbePart part : {ProbePart::fit, ProbePart::choose}) {
      const std::vector<int64_t>& rows = split.rows(part, fit.all);
      std::vector<double> values = chosen(labels, rows);
      Rng rng = Rng(fit.seed).stream("shuffle").at(static_cast<uint64_t>(part));
      rng.shuffle(std::span(values));
      for (size_t i = 0; i < rows.size(); ++i) labels[static_cast<size_t>(rows[i])] = values[i];
    }
  }
  return at::tensor(labels, at::kDouble);
}

}  // namespace

ProbeSplit::ProbeSplit(const AnalysisInputs& inputs, const std::vector<InputGroup>& groups,
                       const std::vector<ProbePlace>& places, const ProbeTarget& target) {
  std::vector<size_t> cell_of(groups.size());
  for (size_t g = 0; g < groups.size(); ++g) {
    cell_of[g] = cells_.size();
    cells_.push_back({groups[g].length, groups[g].length <= inputs.trained_length ? "inside" : "beyond", {}, {}});
  }
  for (size_t row = 0; row < target.size(); ++row) {
    const ProbePlace& place = places[static_cast<size_t>(target.later[row])];
    const bool inside = groups[place.group].length <= inputs.trained_length;
    const ProbePart part = part_of(place.sequence, groups[place.group].sequences.size());
    const auto index = static_cast<int64_t>(row);
    if (part == ProbePart::test) {
      if (!inside && place.place < inputs.trained_tokens) continue;
      Cell& cell = cells_[cell_of[place.group]];
      cell.rows.push_back(index);
      cell.sequences.push_back(static_cast<int64_t>(place.sequence));
      continue;
    }
    const size_t which = part == ProbePart::fit ? 0 : 1;
    if (inside) inside_[which].push_back(index);
    all_[which].push_back(index);
  }
  std::erase_if(cells_, [](const Cell& cell) { return cell.rows.empty(); });
}

const std::vector<int64_t>& ProbeSplit::rows(ProbePart part, bool all) const {
  const size_t which = part == ProbePart::fit ? 0 : 1;
  return all ? all_[which] : inside_[which];
}

std::vector<ProbeResult> fit_probes(const ProbeTarget& target, const ProbeSplit& split, const at::Tensor& states,
                                    const ProbeFit& fit) {
  std::vector<ProbeResult> results;
  const std::vector<int64_t>& fit_rows = split.rows(ProbePart::fit, fit.all);
  const std::vector<int64_t>& choose_rows = split.rows(ProbePart::choose, fit.all);
  if (fit_rows.empty() || choose_rows.empty()) return results;
  const at::Tensor labels = labels_of_fit(target, split, fit);
  const auto add = [&](const ProbeSplit::Cell& cell, const char* probe, int64_t layer, const at::Tensor& predictions,
                       double penalty) {
    results.push_back(
        {.content = {},
         .states = {},
         .labels = fit.shuffled ? "shuffled" : "true",
         .target = target.name,
         .probe = probe,
         .fit = fit.all ? "all" : "trained",
         .layer = layer,
         .length = cell.length,
         .where = cell.where,
         .penalty = penalty,
         .score = score_probe(chosen(target.labels, cell.rows), to_vector(predictions), cell.sequences, fit.seed)});
  };

  const at::Device device = states.device();
  const at::Tensor labels_there = labels.to(device);
  const auto labels_at = [&](const std::vector<int64_t>& rows) {
    return labels_there.index_select(0, to_tensor(rows, device));
  };
  struct Linear {
    double penalty = 0;
    std::vector<at::Tensor> predictions;  // by cell
  };
  std::vector<Linear> linear(static_cast<size_t>(states.size(0)));
  const auto fit_layer = [&](int64_t layer) {
    const FeatureRows of_layer = target.features(states.narrow(0, layer, 1));
    const auto features = [&](const std::vector<int64_t>& rows) { return of_layer(to_tensor(rows, device))[0]; };
    const RidgeProbe probe =
        fit_ridge(features(fit_rows), labels_at(fit_rows), features(choose_rows), labels_at(choose_rows));
    Linear& of = linear[static_cast<size_t>(layer)];
    of.penalty = probe.penalty;
    for (const ProbeSplit::Cell& cell : split.cells()) of.predictions.push_back(probe.predict(features(cell.rows)));
  };
  // Side by side: a decomposition gains little from more cores. Other threads would have other streams of a GPU.
  if (device.is_cpu()) {
    side_by_side(states.size(0), fit_layer);
  } else {
    for (int64_t layer = 0; layer < states.size(0); ++layer) fit_layer(layer);
  }
  for (size_t layer = 0; layer < linear.size(); ++layer) {
    for (size_t cell = 0; cell < split.cells().size(); ++cell) {
      add(split.cells()[cell], "linear", static_cast<int64_t>(layer), linear[layer].predictions[cell],
          linear[layer].penalty);
    }
  }
  const NetworkProbes networks(target.features(states), labels_there, to_tensor(fit_rows, device),
                               to_tensor(choose_rows, device), {.steps = fit.steps, .seed = fit.seed});
  for (const ProbeSplit::Cell& cell : split.cells()) {
    const at::Tensor predictions = networks.predict(to_tensor(cell.rows, device));
    for (int64_t layer = 0; layer < states.size(0); ++layer) add(cell, "nonlinear", layer, predictions[layer], 0);
  }
  return results;
}

}  // namespace lengthwise
