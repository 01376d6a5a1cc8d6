#include "tasks/task.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/error.h"
#include "core/text.h"
#include "tasks/scratchpad.h"

namespace lengthwise {

std::string to_text(Split split) {
  switch (split) {
    case Split::train:
      return "train";
    case Split::validation:
      return "validation";
    case Split::test:
      return "test";
  }
  return "";
}

std::vector<Bin> Task::plan(LengthRange lengths, int64_t count, Split) const {
  return equal_bins(lengths, count);
}

std::optional<std::string> Task::answer(std::string_view text) const {
  return extract_answer(info().answer, info().scratchpad ? after_scratchpad(text) : text);
}

void Task::couple(std::span<const std::string_view>, size_t, std::span<int32_t> ids) const {
  std::ranges::fill(ids, 0);
}

bool Task::is_right(std::string_view written, std::string_view target) const {
  const std::optional<std::string> wanted = answer(target);
  LENGTHWISE_CHECK(wanted, "{}: no answer in the target '{}'", info().name, excerpt(target));
  return answer(written) == wanted;
}

std::vector<Bin> equal_bins(LengthRange lengths, int64_t count) {
  std::vector<Bin> bins;
  for (int64_t length = lengths.low; length <= lengths.high; ++length) {
    bins.push_back({.length = length, .count = count / lengths.size()});
  }
  return bins;
}

std::vector<Bin> weighted_bins(LengthRange lengths, int64_t count, const std::vector<double>& weights) {
  LENGTHWISE_CHECK(static_cast<int64_t>(weights.size()) == lengths.size(), "{} weights for {} lengths", weights.size(),
                   lengths.size());
  const double total = std::accumulate(weights.begin(), weights.end(), 0.0);
  if (total <= 0) return equal_bins(lengths, count);
  std::vector<Bin> bins;
  std::vector<std::pair<double, size_t>> remainders;
  int64_t given = 0;
  for (size_t i = 0; i < weights.size(); ++i) {
    const double share = static_cast<double>(count) * weights[i] / total;
    const auto whole = static_cast<int64_t>(std::floor(share));
    bins.push_back({.length = lengths.low + static_cast<int64_t>(i), .count = whole});
    remainders.emplace_back(-(share - std::floor(share)), i);
    given += whole;
  }
  std::sort(remainders.begin(), remainders.end());
  for (size_t i = 0; given < count && i < remainders.size(); ++i, ++given) ++bins[remainders[i].second].count;
  return bins;
}

}  // namespace lengthwise
