#include "cli/damaged_runs.h"

#include <iostream>

#include "cli/commands.h"
#include "core/printable.h"

namespace lengthwise {

void end_with_damaged(const Results& results) {
  const size_t damaged = results.count(StoredState::damaged);
  if (damaged == 0) return;
  constexpr size_t kNamed = 3;
  std::cout.flush();
  size_t named = 0;
  for (const StoredRun& run : results.runs) {
    if (run.state != StoredState::damaged || ++named > kNamed) continue;
    std::cerr << "lengthwise: cannot read the run " << printable(run.name + ": " + run.reason) << '\n';
  }
  if (named > kNamed) std::cerr << "lengthwise: nor " << named - kNamed << " other runs\n";
  throw Exit{};
}

}  // namespace lengthwise
