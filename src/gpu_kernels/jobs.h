#pragma once
/// Many jobs of one kind in few launches: a launch takes up to kMostJobs of them as its parameter, and its blocks (x,
/// y) do job y.
#include <algorithm>
#include <span>

namespace lengthwise::gpu {

inline constexpr size_t kMostJobs = 32;

template <class Job>
struct Jobs {
  Job of[kMostJobs];
};

/// Calls run(parameter, jobs in it) for one launch after the other.
template <class Job, class Run>
void in_launches(std::span<const Job> jobs, const Run& run) {
  for (size_t first = 0; first < jobs.size(); first += kMostJobs) {
    const std::span<const Job> some = jobs.subspan(first, std::min(kMostJobs, jobs.size() - first));
    Jobs<Job> all;
    std::copy(some.begin(), some.end(), all.of);
    run(all, some);
  }
}

}  // namespace lengthwise::gpu
