#include "analysis/side_by_side.h"

#include <ATen/Parallel.h>

namespace lengthwise {

void side_by_side(int64_t count, const std::function<void(int64_t)>& function) {
  const int threads = at::get_num_threads();
  at::parallel_for(0, count, 1, [&](int64_t from, int64_t to) {
    at::set_num_threads(1);  // of MKL, that is this thread's own
    for (int64_t i = from; i < to; ++i) function(i);
  });
  at::set_num_threads(threads);
}

}  // namespace lengthwise
