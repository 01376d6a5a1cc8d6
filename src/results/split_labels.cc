#include "results/split_labels.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "core/text.h"

namespace lengthwise {
namespace {

/// What a run is compared by, what changes speed alone or is measured beside the rest, and what only says again what
/// another option names: the checksum of the weights that start-from leads to.
bool is_axis(const std::string& key) {
  static const std::set<std::string> axes = {"task",           "data",    "encoding",    "architecture",
                                             "seed",           "threads", "out",         "quiet",
                                             "start-checksum", "stride",  "measure-with"};
  return axes.contains(key);
}

/// Sizes that one architecture has and another has not, or has others of.
bool is_shape(const std::string& key) {
  static const std::set<std::string> shapes = {"layers",      "heads",  "head-dim", "ff-width",
                                               "score-scale", "hidden", "periods"};
  return shapes.contains(key);
}

/// Values of one option, by group of runs.
using Values = std::map<std::string, std::set<std::string>>;

bool one_each(const Values& values) {
  return std::all_of(values.begin(), values.end(), [](const auto& entry) { return entry.second.size() == 1; });
}

class Labeller {
 public:
  Labeller(const std::vector<std::string>& tune, std::vector<StoredRun>& runs) : tune_(tune) {
    for (StoredRun& run : runs) {
      run.split = run.task;
      if (run.options.empty() || run.state == StoredState::damaged) continue;
      for (const std::string& key : tune) {
        run.tuned += fmt::format("{}{}={}", run.tuned.empty() ? "" : " ", key, value_text(run, key));
      }
      runs_.push_back(&run);
      encodings_.insert(run.encoding);
    }
  }

  std::vector<std::string> label(const std::vector<std::string>& varies) {
    for (const std::string& key : keys_of(varies)) use(key);
    return notes_;
  }

 private:
  static std::string value_text(const StoredRun& run, const std::string& key) {
    const std::string& value = run.option(key);
    return value.empty() ? "none" : value;
  }

  std::vector<std::string> keys_of(const std::vector<std::string>& varies) const {
    std::vector<std::string> keys = varies;
    for (const StoredRun* run : runs_) {
      for (const auto& [key, value] : run->options) {
        if (std::find(keys.begin(), keys.end(), key) == keys.end()) keys.push_back(key);
      }
    }
    std::erase_if(keys, [&](const std::string& key) {
      return is_axis(key) || std::find(tune_.begin(), tune_.end(), key) != tune_.end();
    });
    return keys;
  }

  template <class Group>
  Values values_of(const std::string& key, Group group) const {
    Values values;
    for (const StoredRun* run : runs_) values[group(*run)].insert(run->option(key));
    return values;
  }

  void use(const std::string& key) {
    if (one_each(values_of(key, [](const StoredRun& run) { return run.split; }))) return;
    if (!tune_.empty() && one_each(values_of(key, [](const StoredRun& run) { return run.split + '\n' + run.tuned; })))
      return;
    // What follows from the architecture is no difference besides it.
    if (is_shape(key) &&
        one_each(values_of(key, [](const StoredRun& run) { return run.split + '\n' + run.option("architecture"); })))
      return;
    // Data drawn anew for every seed belongs to the seed.
    if (key == "data-seed" &&
        one_each(values_of(key, [](const StoredRun& run) { return run.split + '\n' + run.seed; })))
      return;
    const Values by_encoding =
        values_of(key, [](const StoredRun& run) { return run.split + '\n' + compared_name(run); });
    // So do the weights of an earlier run of the same encoding and seed.
    if (key == "start-from" && !one_each(by_encoding) && one_each(values_of(key, [](const StoredRun& run) {
          return run.split + '\n' + compared_name(run) + '\n' + run.seed;
        })))
      return;
    if (one_each(by_encoding)) {
      note_unfair(key);
      return;
    }
    std::set<std::string> varied;
    for (const auto& [group, values] : by_encoding) {
      if (values.size() > 1) varied.insert(group.substr(group.find('\n') + 1));
    }
    const bool of_encoding = varied.size() == 1 && encodings_.size() > 1;
    const bool of_own_runs = key == "start-from" && begin_with_their_own();
    for (StoredRun* run : runs_) {
      const std::string value = of_own_runs ? folder_text(run->option(key)) : value_text(*run, key);
      if (!of_encoding) {
        run->split += fmt::format(" {}={}", key, value);
      } else if (varied.contains(compared_name(*run))) {
        for (std::string* name : {&run->encoding, &run->label}) *name += fmt::format(" {}={}", key, value);
      }
    }
  }

  /// Whether each of several encodings begins with weights of its own: then it is the folder of those that tells splits
  /// apart, and encodings of the same folder are compared.
  bool begin_with_their_own() const {
    Values users, weights;
    for (const StoredRun* run : runs_) {
      if (run->option("start-from").empty()) continue;
      users[run->option("start-from")].insert(compared_name(*run));
      weights[compared_name(*run)].insert(run->option("start-from"));
    }
    return users.size() > 1 && one_each(users) && one_each(weights);
  }

  static std::string folder_text(const std::string& weights) {
    const std::string folder = std::filesystem::path(weights).parent_path().string();
    return weights.empty() ? "none" : folder.empty() ? weights : folder;
  }

  void note_unfair(const std::string& key) {
    std::vector<std::string> parts;
    for (const auto& [encoding, values] : values_of(key, [](const StoredRun& run) { return compared_name(run); })) {
      parts.push_back(encoding + " " + join({values.begin(), values.end()}, " and "));
    }
    notes_.push_back("The encodings also differ in " + key + ": " + join(parts, ", ") + ".");
  }

  const std::vector<std::string>& tune_;
  std::vector<StoredRun*> runs_;
  std::set<std::string> encodings_;
  std::vector<std::string> notes_;
};

}  // namespace

std::vector<std::string> label_runs(const std::vector<std::string>& varies, const std::vector<std::string>& tune,
                                    std::vector<StoredRun>& runs) {
  return Labeller(tune, runs).label(varies);
}

bool can_be_tuned(const std::string& option) {
  return !is_axis(option);
}

}  // namespace lengthwise
