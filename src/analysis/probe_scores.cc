#include "analysis/probe_scores.h"

#include <cmath>
#include <map>

#include "core/error.h"

namespace lengthwise {
namespace {

struct Sums {
  double rows = 0, labels = 0, label_squares = 0, squares = 0, errors = 0;

  void add(const Sums& other) {
    rows += other.rows;
    labels += other.labels;
    label_squares += other.label_squares;
    squares += other.squares;
    errors += other.errors;
  }
  double r2() const {
    const double spread = label_squares - labels * labels / rows;
    return spread > 1e-9 * label_squares ? 1 - squares / spread : NAN;
  }
  double error() const { return errors / rows; }
};

}  // namespace

ProbeScore score_probe(const std::vector<double>& labels, const std::vector<double>& predictions,
                       const std::vector<int64_t>& sequences, uint64_t seed) {
  LENGTHWISE_CHECK(labels.size() == predictions.size() && labels.size() == sequences.size() && !labels.empty(),
                   "{} labels, {} predictions, {} sequences", labels.size(), predictions.size(), sequences.size());
  // Labels are moved so that their squares lose nothing.
  const double origin = labels.front();
  std::map<int64_t, Sums> by_sequence;
  for (size_t i = 0; i < labels.size(); ++i) {
    const double label = labels[i] - origin;
    const double off = labels[i] - predictions[i];
    by_sequence[sequences[i]].add({1, label, label * label, off * off, std::abs(off)});
  }
  std::vector<Sums> drawn_from;
  Sums all;
  for (const auto& [sequence, sums] : by_sequence) {
    drawn_from.push_back(sums);
    all.add(sums);
  }
  std::vector<double> r2(kResamples), error(kResamples);
  draw_resamples(drawn_from.size(), seed, [&](size_t resample, const std::vector<size_t>& drawn) {
    Sums sums;
    for (const size_t index : drawn) sums.add(drawn_from[index]);
    r2[resample] = sums.r2();
    error[resample] = sums.error();
  });
  return {percentile_interval(all.r2(), std::move(r2)), percentile_interval(all.error(), std::move(error)),
          static_cast<int64_t>(drawn_from.size()), static_cast<int64_t>(labels.size())};
}

}  // namespace lengthwise
