#include "results/stored_run.h"

namespace lengthwise {

std::string to_text(StoredState state) {
  switch (state) {
    case StoredState::waiting:
      return "waiting";
    case StoredState::running:
      return "running";
    case StoredState::unfinished:
      return "unfinished";
    case StoredState::finished:
      return "finished";
    case StoredState::failed:
      return "failed";
  }
  return "";
}

const std::string& StoredRun::option(const std::string& key) const {
  static const std::string none;
  for (const auto& [option_name, value] : options) {
    if (option_name == key) return value;
  }
  return none;
}

Tally StoredRun::total(bool trained) const {
  Tally sum;
  for (const LengthResult& row : lengths) {
    if (row.counts.trained != trained) continue;
    sum.count += row.counts.count;
    sum.correct += row.counts.correct;
  }
  return sum;
}

}  // namespace lengthwise
