#include "recurrent/time_order.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <numeric>

namespace lengthwise {

std::vector<int64_t> starts_of(const std::vector<int64_t>& counts) {
  std::vector<int64_t> starts(counts.size());
  std::exclusive_scan(counts.begin(), counts.end(), starts.begin(), int64_t{0});
  return starts;
}

TimeOrder time_order(const at::Tensor& offsets) {
  const at::Tensor here = offsets.cpu();
  const auto* begin = here.const_data_ptr<int64_t>();
  const auto sequences = static_cast<size_t>(here.numel() - 1);
  const auto length = [&](size_t s) { return begin[s + 1] - begin[s]; };
  std::vector<size_t> order(sequences);
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return length(a) > length(b); });

  TimeOrder result;
  result.last.resize(sequences);
  std::vector<int64_t> from;
  std::vector<int64_t> to(static_cast<size_t>(begin[sequences]));
  for (int64_t time = 0;; ++time) {
    int64_t count = 0;
    for (const size_t s : order) {
      if (length(s) <= time) break;
      result.last[s] = std::ssize(from);
      to[static_cast<size_t>(begin[s] + time)] = std::ssize(from);
      from.push_back(begin[s] + time);
      ++count;
    }
    if (count == 0) break;
    result.counts.push_back(count);
  }
  result.starts = starts_of(result.counts);
  result.from = at::tensor(from, at::kLong).to(offsets.device());
  result.to = at::tensor(to, at::kLong).to(offsets.device());
  return result;
}

}  // namespace lengthwise
