#include "study/select_runs.h"

#include <fnmatch.h>

#include "core/error.h"
#include "core/text.h"

namespace lengthwise {
namespace {

std::vector<std::string> split_patterns(const std::string& patterns) {
  std::vector<std::string> list;
  std::string_view left = patterns;
  while (true) {
    const size_t comma = left.find(',');
    const std::string_view pattern = trim(left.substr(0, comma));
    if (!pattern.empty()) list.emplace_back(pattern);
    if (comma == std::string_view::npos) return list;
    left.remove_prefix(comma + 1);
  }
}

/// What somebody may have meant: whole names, and those of one or several axes with a wildcard for the rest.
std::vector<std::string> likely_patterns(const StudyPlan& plan) {
  std::vector<std::string> patterns;
  for (const StudyRun& run : plan.runs) {
    patterns.push_back(run.name);
    std::string start;
    for (size_t axis = 0; axis + 1 < run.labels.size(); ++axis) {
      start += run.labels[axis] + "-";
      patterns.push_back(start + "*");
      if (axis > 0) patterns.push_back("*-" + run.labels[axis] + "-*");
    }
    if (run.labels.size() > 1) patterns.push_back("*-" + run.labels.back());
  }
  std::sort(patterns.begin(), patterns.end());
  patterns.erase(std::unique(patterns.begin(), patterns.end()), patterns.end());
  return patterns;
}

}  // namespace

std::string select_runs(const std::string& patterns, StudyPlan& plan) {
  const std::vector<std::string> wanted = split_patterns(patterns);
  if (wanted.empty()) fail("--only names no run; for example --only '{}'", plan.runs.front().name);
  for (StudyRun& run : plan.runs) run.selected = false;
  for (const std::string& pattern : wanted) {
    bool fits = false;
    for (StudyRun& run : plan.runs) {
      if (::fnmatch(pattern.c_str(), run.name.c_str(), 0) != 0) continue;
      run.selected = fits = true;
    }
    if (!fits) fail("no run is called '{}'{}", excerpt(pattern), did_you_mean(pattern, likely_patterns(plan)));
  }
  std::vector<std::string> names;
  for (const StudyRun& run : plan.runs) {
    if (run.selected) names.push_back(run.name);
  }
  return fmt::format("--only selects {} of {} runs: {}", names.size(), plan.runs.size(), some_names(names));
}

}  // namespace lengthwise
