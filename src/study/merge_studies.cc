#include "study/merge_studies.h"

#include <map>
#include <optional>

#include "core/error.h"
#include "core/files.h"
#include "core/json.h"
#include "model/model_config.h"
#include "study/done.h"
#include "study/record.h"
#include "study/study_folder.h"
#include "train/folder_lock.h"
#include "train/run_folder.h"

namespace lengthwise {
namespace {

namespace fs = std::filesystem;

struct Piece {
  fs::path folder;
  StudyFile file;
  std::map<std::string, RunRecord> records;
};

/// A run as one piece has it.
struct Version {
  size_t piece = 0;
  fs::path path;
  TrainConfig config;
  bool finished = false;
  bool weights = false;
  RunRecord record;
};

Piece open_piece(const fs::path& folder) {
  if (!is_folder(folder)) fail("there is no folder {}", shown(folder));
  if (!is_there(folder / "study.toml")) fail("{} is not the folder of a study: it has no study.toml", shown(folder));
  Piece piece{folder, read_study_file(folder / "study.toml"), read_study_json(folder / "study.json")};
  // Where the file has no name, its copy is called after the copy.
  piece.file.name = read_study_name(folder / "study.json").value_or(piece.file.name);
  return piece;
}

/// Where two files ask for different runs; "" where they do not. Comments, titles and the order of single values do not
/// matter.
std::string difference_of(const StudyFile& a, const StudyFile& b) {
  if (a.name != b.name) return fmt::format("one is the study '{}', the other '{}'", a.name, b.name);
  if (a.tune != b.tune) return "they tune different options";
  std::map<std::string, std::pair<std::string, std::string>> values;
  for (const Setting& setting : a.settings) values[setting.option].first = setting.text;
  for (const Setting& setting : b.settings) values[setting.option].second = setting.text;
  for (const auto& [option, value] : values) {
    if (value.first != value.second)
      return fmt::format("{} is '{}' in one and '{}' in the other", option, value.first, value.second);
  }
  const auto axes_of = [](const StudyFile& file) {
    std::vector<std::pair<std::string, std::string>> axes;
    for (const Axis& axis : file.axes) {
      std::string entries;
      for (const AxisEntry& entry : axis.entries) {
        entries += entry.label;
        for (const Setting& setting : entry.settings) entries += "\n " + setting.option + "=" + setting.text;
        entries += "\n";
      }
      axes.emplace_back(axis.name, entries);
    }
    return axes;
  };
  const auto first = axes_of(a);
  const auto second = axes_of(b);
  for (size_t i = 0; i < std::max(first.size(), second.size()); ++i) {
    if (i >= first.size() || i >= second.size() || first[i] != second[i])
      return fmt::format("the list '{}' is not the same", i < first.size() ? first[i].first : second[i].first);
  }
  return "";
}

/// With the encoding as a run writes it, whatever a study's file calls it.
Json options_of(TrainConfig config) {
  fold_encoding(config.model);
  Json options = Json::object();
  add_to_json(config, options);
  return options;
}

/// The first option that decides a result in which they differ; "" when there is none. What is still open in `b` (its
/// default, or what the machine of a run decides) does not count with `open`.
std::string difference_of(const TrainConfig& a, const TrainConfig& b, bool open) {
  const auto first = options_of(a);
  const auto second = options_of(b);
  const auto defaults = options_of(TrainConfig());
  for (const auto& [option, value] : first.items()) {
    const auto& other = second[option];
    if (!decides_result(option) || value == other || (open && (other == defaults[option] || other == "auto"))) continue;
    return fmt::format("--{} is {} and {}", option, json_text(value), json_text(other));
  }
  return "";
}

class Merge {
 public:
  Merge(const std::vector<fs::path>& folders, fs::path out) : out_(std::move(out)) {
    if (!out_.has_filename()) out_ = out_.parent_path();  // of `out/`
    // What is there already counts as the first piece: of equals it stays.
    onto_study_ = is_there(out_) && !(is_folder(out_) && list_folder(out_).empty());
    if (onto_study_) pieces_.push_back(open_piece(out_));
    for (const fs::path& folder : folders) {
      if (onto_study_ && real_path(folder) == real_path(out_)) continue;
      pieces_.push_back(open_piece(folder));
    }
    for (const Piece& piece : pieces_) {
      const std::string difference = difference_of(pieces_.front().file, piece.file);
      if (difference.empty()) continue;
      fail("{} and {} are not pieces of one study: {}", shown(pieces_.front().folder), shown(piece.folder), difference);
    }
    runs_ = expand_study(pieces_.front().file);
    for (const StudyRun& run : runs_) chosen_.push_back(choose(run));
  }

  MergedStudy carry_out() {
    MergedStudy result;
    result.runs = runs_.size();
    if (onto_study_) {
      const FolderLock lock = FolderLock::wait(out_);
      remove_left_folders(out_);
      for (size_t i = 0; i < runs_.size(); ++i) {
        if (chosen_[i] && chosen_[i]->piece != 0) add_to_study(runs_[i], *chosen_[i]);
      }
      write_file(out_ / "study.json", record(result));
      return result;
    }
    const fs::path parent = out_.has_parent_path() ? out_.parent_path() : fs::path(".");
    make_folder(parent);
    remove_left_folders(parent, out_.filename().string() + ".");
    const fs::path place = part_folder(out_);
    make_folder(place / "runs");
    // Held as long as somebody writes there.
    const std::optional<FolderLock> lock = FolderLock::try_lock(place);
    try {
      for (size_t i = 0; i < runs_.size(); ++i) {
        if (chosen_[i]) copy_run(chosen_[i]->path, run_path(place, runs_[i]));
      }
      write_file(place / "study.toml", pieces_.front().file.text);
      write_file(place / "study.json", record(result));
      move_path(place, out_);
    } catch (...) {
      remove_folder(place);
      throw;
    }
    return result;
  }

 private:
  std::optional<Version> choose(const StudyRun& run) const {
    std::optional<Version> best;
    for (size_t i = 0; i < pieces_.size(); ++i) {
      const fs::path path = run_path(pieces_[i].folder, run);
      if (!is_there(path / "config.json")) continue;
      Version version = look_at(i, path, run);
      if (best) check_same_run(*best, version);
      if (!best || is_better(version, *best)) best = std::move(version);
    }
    return best;
  }

  Version look_at(size_t piece, const fs::path& path, const StudyRun& run) const {
    if (FolderLock::is_held(path)) fail("somebody works on {}; merge when it has ended", shown(path));
    Version version{piece, path, read_run_config(path), is_there(path / "summary.json"), false, {}};
    version.weights = is_there(path / "best.safetensors");
    const std::string difference = difference_of(version.config, run.config, /*open=*/true);
    if (!difference.empty()) fail("{} is not the run that its study.toml asks for: {}", shown(path), difference);
    if (version.finished && !damage_of(path).empty()) fail("{}: {}", shown(path), damage_of(path));
    const auto found = pieces_[piece].records.find(run.name);
    if (found != pieces_[piece].records.end()) version.record = found->second;
    read_metrics(path, version.record);
    version.record.steps = version.config.steps;
    if (version.finished) {
      version.record.state = RecordState::finished;
      version.record.step = version.record.steps;
    } else if (version.record.state != RecordState::failed) {
      version.record.state = RecordState::waiting;
    }
    return version;
  }

  static void check_same_run(const Version& a, const Version& b) {
    const std::string difference = difference_of(a.config, b.config, /*open=*/false);
    if (!difference.empty()) fail("{} and {} are different runs: {}", shown(a.path), shown(b.path), difference);
    if (a.finished && b.finished && read_file(a.path / "eval.jsonl") != read_file(b.path / "eval.jsonl")) {
      fail("{} and {} are the same run with different results; leave one of them out", shown(a.path), shown(b.path));
    }
  }

  static bool is_better(const Version& a, const Version& b) {
    if (a.finished != b.finished) return a.finished;
    return a.finished ? a.weights && !b.weights : a.record.step > b.record.step;
  }

  static void copy_run(const fs::path& from, const fs::path& to) {
    make_folder(to);
    for (const fs::path& file : list_folder(from)) {
      if (file.filename() == ".lock" || is_part_file(file) || !is_file(file)) continue;
      std::error_code error;
      fs::copy_file(file, to / file.filename(), error);
      if (error) fail("cannot copy {} to {}: {}", shown(file), shown(to), error.message());
    }
  }

  void add_to_study(const StudyRun& run, const Version& version) const {
    const fs::path place = part_folder(out_ / run.name);
    try {
      copy_run(version.path, place);
      make_folder(out_ / "runs");
      if (is_there(run_path(out_, run)) && put_aside(out_, run.name).empty())
        fail("somebody works on {}; merge when it has ended", shown(run_path(out_, run)));
      move_path(place, run_path(out_, run));
    } catch (...) {
      remove_folder(place);
      throw;
    }
  }

  /// The text of study.json; counts what there is.
  std::string record(MergedStudy& result) const {
    const StudyFile& file = pieces_.front().file;
    StudyPlan plan = empty_plan(file);
    plan.runs = runs_;
    std::vector<RunRecord> records;
    for (size_t i = 0; i < runs_.size(); ++i) {
      records.push_back(chosen_[i] ? chosen_[i]->record : record_without_folder(runs_[i].name));
      result.finished += records.back().state == RecordState::finished ? 1 : 0;
      result.failed += records.back().state == RecordState::failed ? 1 : 0;
    }
    return study_json(plan, records);
  }

  /// A run may have failed before it had a folder.
  RunRecord record_without_folder(const std::string& name) const {
    RunRecord record;
    for (const Piece& piece : pieces_) {
      const auto found = piece.records.find(name);
      if (found == piece.records.end()) continue;
      if (found->second.state == RecordState::failed) return found->second;
      record.steps = found->second.steps;
    }
    return record;
  }

  fs::path out_;
  bool onto_study_ = false;
  std::vector<Piece> pieces_;
  std::vector<StudyRun> runs_;
  std::vector<std::optional<Version>> chosen_;  ///< by run
};

}  // namespace

MergedStudy merge_studies(const std::vector<fs::path>& pieces, const fs::path& out) {
  return Merge(pieces, out).carry_out();
}

}  // namespace lengthwise
