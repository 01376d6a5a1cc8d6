#pragma once
/// How many threads are meant where 0 stands for one per core.
#include <algorithm>
#include <cstdint>
#include <thread>

namespace lengthwise {

inline int64_t threads_or_cores(int64_t threads) {
  return threads > 0 ? threads : std::max<int64_t>(1, std::thread::hardware_concurrency());
}

}  // namespace lengthwise
