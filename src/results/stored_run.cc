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
    case StoredState::damaged:
      return "damaged";
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

const std::string& compared_name(const StoredRun& run) {
  const std::string& architecture = run.option("architecture");
  return architecture.empty() || architecture == "decoder" ? run.option("encoding") : architecture;
}

Score StoredRun::score() const {
  Score score;
  score.split = split;
  score.category = category;
  score.encoding = encoding;
  score.label = label;
  score.family = family;
  score.seed = seed;
  score.tuned = tuned;
  for (const LengthResult& row : lengths) score.lengths.push_back(row.counts);
  score.train_limit = train_limit;
  score.scratchpad = scratchpad;
  add_up_lengths(score);
  return score;
}

}  // namespace lengthwise
