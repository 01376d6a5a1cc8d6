#include "ranking/reciprocal_rank.h"

#include <algorithm>
#include <numeric>

#include "core/error.h"
#include "core/text.h"

namespace lengthwise {

std::string to_text(Ties ties) {
  return ties == Ties::paper ? "paper" : "average";
}

void from_text(std::string_view text, Ties& ties) {
  if (text == "average") {
    ties = Ties::average;
  } else if (text == "paper") {
    ties = Ties::paper;
  } else {
    fail("'{}' is no rule for ties; there are average and paper{}", excerpt(text),
         did_you_mean(text, {"average", "paper"}));
  }
}

void Ranker::rank(std::span<const double> accuracies, Ties ties, std::span<const int> rows,
                  std::vector<double>& ranks) {
  LENGTHWISE_CHECK(rows.size() == accuracies.size(), "{} rows for {} encodings", rows.size(), accuracies.size());
  order_.resize(accuracies.size());
  std::iota(order_.begin(), order_.end(), size_t{0});
  std::sort(order_.begin(), order_.end(), [&](size_t a, size_t b) {
    if (accuracies[a] != accuracies[b]) return accuracies[a] > accuracies[b];
    return rows[a] != rows[b] ? rows[a] < rows[b] : a < b;
  });
  ranks.resize(order_.size());
  for (size_t begin = 0; begin < order_.size();) {
    size_t end = begin + 1;
    if (ties == Ties::average) {
      while (end < order_.size() && accuracies[order_[end]] == accuracies[order_[begin]]) ++end;
    }
    // Places begin..end-1 are the ranks begin+1..end, whose mean is this.
    const double rank = static_cast<double>(begin + 1 + end) / 2;
    for (size_t place = begin; place < end; ++place) ranks[order_[place]] = rank;
    begin = end;
  }
}

std::vector<double> ranks_of(std::span<const double> accuracies, Ties ties, std::span<const int> rows) {
  std::vector<double> ranks;
  Ranker().rank(accuracies, ties, rows, ranks);
  return ranks;
}

double chance_reciprocal_rank(size_t encodings) {
  double sum = 0;
  for (size_t rank = 1; rank <= encodings; ++rank) sum += 1 / static_cast<double>(rank);
  return encodings == 0 ? 0 : sum / static_cast<double>(encodings);
}

}  // namespace lengthwise
