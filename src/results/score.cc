#include "results/score.h"

#include <algorithm>
#include <tuple>

namespace lengthwise {

bool is_longer(const LengthCount& row, std::optional<int64_t> train_limit) {
  return !row.validation && (!train_limit || row.length > *train_limit);
}

void add_up_lengths(Score& score) {
  std::sort(score.lengths.begin(), score.lengths.end(), [](const LengthCount& a, const LengthCount& b) {
    return std::tie(a.length, b.validation) < std::tie(b.length, a.validation);
  });
  score.longer = score.inside = score.trained = {};
  double losses = 0;
  for (const LengthCount& row : score.lengths) {
    Tally& sum = row.validation ? score.trained : is_longer(row, score.train_limit) ? score.longer : score.inside;
    sum.count += row.count;
    sum.correct += row.correct;
    if (row.validation) losses += row.loss * static_cast<double>(row.count);
  }
  score.trained_loss = score.trained.known() ? losses / static_cast<double>(score.trained.count) : 0;
  score.accuracy.reset();
  if (score.longer.known()) score.accuracy = score.longer.share();
}

}  // namespace lengthwise
