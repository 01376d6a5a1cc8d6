#include "results/run_result.h"

namespace lengthwise {

std::string to_text(RunState state) {
  switch (state) {
    case RunState::waiting:
      return "waiting";
    case RunState::running:
      return "running";
    case RunState::unfinished:
      return "unfinished";
    case RunState::finished:
      return "finished";
    case RunState::failed:
      return "failed";
  }
  return "";
}

const std::string& RunResult::option(const std::string& key) const {
  static const std::string none;
  for (const auto& [option_name, value] : options) {
    if (option_name == key) return value;
  }
  return none;
}

Tally RunResult::total(bool trained) const {
  Tally sum;
  for (const LengthResult& row : lengths) {
    if (row.counts.trained != trained) continue;
    sum.count += row.counts.count;
    sum.correct += row.counts.correct;
  }
  return sum;
}

}  // namespace lengthwise
