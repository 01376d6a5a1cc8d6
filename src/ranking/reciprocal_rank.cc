#include "ranking/reciprocal_rank.h"

#include <algorithm>
#include <charconv>
#include <numeric>

#include "core/config.h"
#include "core/error.h"
#include "core/text.h"

namespace lengthwise {
namespace {

/// 0.5 and 0.49 are 0.01 apart, whatever doubles make of it; shares of real counts are never this close.
constexpr double kRounding = 1e-12;

std::optional<double> closeness_of(std::string_view text) {
  double within = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), within);
  if (error != std::errc() || end != text.data() + text.size() || !(within >= 0 && within < 1)) return {};
  return within;
}

}  // namespace

std::string to_text(Ties ties) {
  if (ties.by_row) return "paper";
  return ties.within == 0 ? "average" : to_text(ties.within);
}

void from_text(std::string_view text, Ties& ties) {
  if (text == "average") {
    ties = Ties::kAverage;
  } else if (text == "paper") {
    ties = Ties::kPaper;
  } else if (const std::optional<double> within = closeness_of(text)) {
    ties = Ties::up_to(*within);
  } else {
    fail("'{}' is no rule for ties; there are average, paper, and a number from 0 to below 1{}", excerpt(text),
         did_you_mean(text, {"average", "paper"}));
  }
}

std::string describe(Ties ties) {
  if (ties.by_row) return "ties by the published row order";
  if (ties.within == 0) return "ties averaged";
  return fmt::format("ties averaged, accuracies at most {} below the best of them being ties", ties.within);
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
    if (!ties.by_row) {
      while (end < order_.size() && accuracies[order_[begin]] - accuracies[order_[end]] <= ties.within + kRounding)
        ++end;
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
