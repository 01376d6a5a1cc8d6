#include "study/plan.h"

#include <map>
#include <set>

#include "core/error.h"
#include "core/files.h"
#include "core/json.h"
#include "core/text.h"
#include "data/data_set.h"
#include "eval/execute_run.h"

namespace lengthwise {
namespace {

/// Leaves room for what is added to a folder's name in `replaced/`.
constexpr size_t kLongestName = 200;

/// The options that decide a result.
template <class Config>
std::string dump(const Config& config) {
  Json options = Json::object();
  add_to_json(config, options);
  Json deciding = Json::object();
  for (const auto& [option, value] : options.items()) {
    if (decides_result(option)) deciding[option] = value;
  }
  return json_text(deciding);
}

/// Vocabularies depend on the data alone, and reading a user's own data for each run would take long.
class VocabularySizes {
 public:
  int64_t of(const DataConfig& config) {
    const auto [found, fresh] = sizes_.try_emplace(data_identity(config), 0);
    if (fresh) found->second = vocabulary_size(resolve(config));
    return found->second;
  }

 private:
  std::map<std::string, int64_t> sizes_;
};

/// The run's configuration, without `start-checksum` where the weights it begins with are not here and nobody asks for
/// them.
TrainConfig completed(const StudyRun& run, int64_t vocabulary_size, std::string* note) {
  const std::string& start = run.config.start_from;
  if (run.selected || start.empty() || is_there(start)) return complete_config(run.config, vocabulary_size, note);
  TrainConfig config = run.config;
  config.start_from = config.start_checksum = "";
  config.start_noise = 0;
  config = complete_config(config, vocabulary_size, note);
  config.start_from = start;
  config.start_checksum = run.config.start_checksum;
  config.start_noise = run.config.start_noise;
  return config;
}

void check_name(const StudyFile& file, const std::string& name, std::set<std::string>& seen) {
  if (name.size() > kLongestName)
    fail("{}: the run name '{}' is too long; shorten it with label = \"...\"", file.path, excerpt(name));
  if (!seen.insert(name).second) {
    fail("{}: two runs would be called '{}'; tell them apart with label = \"...\"", file.path, name);
  }
}

}  // namespace

std::string StudyPlan::split_of(const StudyRun& run) const {
  std::vector<std::string> parts;
  for (size_t axis = 0; axis < axes.size(); ++axis) {
    if (axes[axis] != "encoding" && axes[axis] != "architecture" && axes[axis] != "seed")
      parts.push_back(run.labels[axis]);
  }
  if (parts.empty()) parts.push_back(data_name(run.config.data));
  return join(parts, "-");
}

std::string some_names(std::vector<std::string> names) {
  constexpr size_t kMostNames = 12;
  const size_t more = names.size() - std::min(names.size(), kMostNames);
  names.resize(names.size() - more);
  return join(names, ", ") + (more > 0 ? fmt::format(" and {} more", more) : "");
}

StudyPlan empty_plan(const StudyFile& file) {
  StudyPlan plan{file.name, file.title, file.text, {}, file.varying(), file.tune, {}};
  for (const Axis& axis : file.axes) plan.axes.push_back(axis.name);
  return plan;
}

std::vector<StudyRun> expand_study(const StudyFile& file) {
  size_t count = 1;
  for (const Axis& axis : file.axes) count *= axis.entries.size();
  TrainConfig common;
  for (const Setting& setting : file.settings) apply_setting(file, setting, common);
  std::set<std::string> seen;
  std::vector<StudyRun> runs;
  for (size_t index = 0; index < count; ++index) {
    StudyRun run;
    run.labels.resize(file.axes.size());
    run.config = common;
    size_t left = index;
    for (size_t axis = file.axes.size(); axis-- > 0;) {
      const std::vector<AxisEntry>& entries = file.axes[axis].entries;
      const AxisEntry& entry = entries[left % entries.size()];
      left /= entries.size();
      run.labels[axis] = entry.label;
      for (const Setting& setting : entry.settings) apply_setting(file, setting, run.config);
    }
    run.name = run.labels.empty() ? "run" : join(run.labels, "-");
    check_name(file, run.name, seen);
    runs.push_back(std::move(run));
  }
  return runs;
}

StudyPlan plan_study(const StudyFile& file, const std::function<void(StudyPlan&)>& select) {
  StudyPlan plan = empty_plan(file);
  plan.runs = expand_study(file);
  if (select) select(plan);
  VocabularySizes sizes;
  for (StudyRun& run : plan.runs) {
    try {
      run.config = completed(run, sizes.of(run.config.data), &run.device_note);
    } catch (const UserError& error) {
      fail("{}: run {}: {}", file.path, run.name, error.what());
    }
  }
  return plan;
}

std::vector<std::string> device_notes(const StudyPlan& plan) {
  std::map<std::string, std::vector<std::string>> names;
  for (const StudyRun& run : plan.runs) {
    if (run.selected && !run.device_note.empty()) names[run.device_note].push_back(run.name);
  }
  std::vector<std::string> lines;
  for (const auto& [note, runs] : names) lines.push_back(fmt::format("{} ({})", note, some_names(runs)));
  return lines;
}

std::string run_identity(const TrainConfig& config) {
  return dump(config);
}

std::string data_identity(const DataConfig& config) {
  return dump(config);
}

double rough_work(const TrainConfig& config) {
  const ModelConfig& model = config.model;
  const double layer =
      model.is_decoder() ? static_cast<double>(model.width) * static_cast<double>(4 * model.width + 2 * model.ff_width)
                         : static_cast<double>(model.hidden) * static_cast<double>(model.hidden + model.width);
  const double length = config.data.train_lengths  ? static_cast<double>(config.data.train_lengths->high)
                        : config.data.text.empty() ? 1
                                                   : static_cast<double>(config.data.context);
  const double steps = static_cast<double>(config.steps) * static_cast<double>(config.batch_size);
  constexpr double kScratchpadFactor = 8;  // tokens of a full scratchpad over those of an answer, about
  return steps * static_cast<double>(model.layers) * layer * length *
         (config.data.scratchpad.any() ? kScratchpadFactor : 1);
}

std::vector<size_t> working_order(const StudyPlan& plan) {
  struct Group {
    double work = 0;
    std::vector<size_t> runs;
  };
  std::vector<Group> groups;
  std::map<std::string, size_t> places;
  for (size_t i = 0; i < plan.runs.size(); ++i) {
    if (!plan.runs[i].selected) continue;
    const TrainConfig& config = plan.runs[i].config;
    const auto [found, fresh] = places.try_emplace(data_identity(config.data), groups.size());
    if (fresh) groups.emplace_back();
    Group& group = groups[found->second];
    group.work = std::max(group.work, rough_work(config));
    group.runs.push_back(i);
  }
  std::stable_sort(groups.begin(), groups.end(), [](const Group& a, const Group& b) { return a.work > b.work; });
  std::vector<size_t> order;
  for (Group& group : groups) {
    std::stable_sort(group.runs.begin(), group.runs.end(), [&](size_t a, size_t b) {
      return rough_work(plan.runs[a].config) > rough_work(plan.runs[b].config);
    });
    order.insert(order.end(), group.runs.begin(), group.runs.end());
  }
  return order;
}

}  // namespace lengthwise
