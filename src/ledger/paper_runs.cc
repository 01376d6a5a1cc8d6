#include "ledger/paper_runs.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "core/error.h"
#include "ledger/published.h"
#include "tasks/registry.h"

namespace lengthwise {
namespace {

double mean(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

/// Whether all runs of the table must have the same value. What the task decides, what the machine decides and what
/// tells the runs apart may differ.
bool belongs_to_recipe(const std::string& option) {
  static const std::set<std::string> free = {
      "task",       "encoding",  "seed",  "train-lengths", "test-lengths", "train-count",       "validation-count",
      "test-count", "steps",     "data",  "corpus",        "vocab-rows",   "validate-every",    "checkpoint-every",
      "device",     "precision", "dedup", "threads",       "watch-longer", "validation-portion"};
  return !free.contains(option);
}

void check_recipe(const LedgerEntry& a, const LedgerEntry& b) {
  for (const auto& [option, value] : a.options) {
    // An option that one of them does not have is younger than it.
    if (!belongs_to_recipe(option) || !b.options.contains(option) || b.option(option) == value) continue;
    fail("{} and {} are not of one recipe: --{} is '{}' and '{}'", a.file_name(), b.file_name(), option, value,
         b.option(option));
  }
}

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

double PaperCell::longer_mean() const {
  return mean(longer);
}

double PaperCell::longer_deviation() const {
  if (longer.size() < 2) return 0;
  double squares = 0;
  for (const double value : longer) squares += (value - longer_mean()) * (value - longer_mean());
  return std::sqrt(squares / static_cast<double>(longer.size() - 1));
}

double PaperCell::trained_mean() const {
  return mean(trained);
}

PaperRuns::PaperRuns(const std::vector<LedgerEntry>& entries) {
  for (const auto& task : tasks()) {
    if (!task->info().paper.empty()) splits_.push_back(task->info().name);
  }
  for (const LedgerEntry& entry : entries) add(entry);
  if (runs_.empty()) fail("the ledger has no run of the study's tasks and encodings");
}

void PaperRuns::add(const LedgerEntry& entry) {
  const std::string& split = entry.option("task");
  const std::string& encoding = entry.option("encoding");
  const bool scratchpad = !entry.option("scratchpad").empty() && entry.option("scratchpad") != "none";
  if (!contains(splits_, split) || !contains(published_encodings(), encoding) || scratchpad) {
    ++left_out_;
    return;
  }
  const auto [other, fresh] = by_key_.try_emplace({split, encoding, entry.option("seed")}, &entry);
  if (!fresh) {
    fail("{} and {} are both {} on {} with seed {}; a table has each once", other->second->file_name(),
         entry.file_name(), encoding, split, entry.option("seed"));
  }
  if (entry.best.longer.count() == 0) fail("{} has no examples of longer lengths", entry.file_name());
  runs_.push_back(&entry);
  check_recipe(*runs_.front(), entry);
  PaperCell& cell = cells_[{split, encoding}];
  cell.longer.push_back(entry.best.longer.share());
  if (entry.best.trained.count() > 0) cell.trained.push_back(entry.best.trained.share());
}

const PaperCell* PaperRuns::cell(const std::string& split, const std::string& encoding) const {
  const auto found = cells_.find({split, encoding});
  return found == cells_.end() ? nullptr : &found->second;
}

std::vector<PaperRuns::Query> PaperRuns::queries() const {
  std::set<std::pair<std::string, std::string>> splits_and_seeds;
  for (const auto& [key, entry] : by_key_) splits_and_seeds.emplace(key[0], key[2]);
  std::vector<Query> complete;
  for (const auto& [split, seed] : splits_and_seeds) {
    Query query{split, {}};
    for (const std::string& encoding : published_encodings()) {
      const auto found = by_key_.find({split, encoding, seed});
      if (found != by_key_.end()) query.accuracies.push_back(found->second->best.longer.share());
    }
    if (query.accuracies.size() == published_encodings().size()) complete.push_back(std::move(query));
  }
  return complete;
}

}  // namespace lengthwise
