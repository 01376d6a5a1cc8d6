#pragma once
/// What was found of heads as rows of the table, as a summary and as text for the terminal.
#include <optional>
#include <string>
#include <vector>

#include "analysis/distance_families.h"
#include "analysis/head_classes.h"
#include "analysis/inputs.h"
#include "analysis/output.h"

namespace lengthwise {

struct HeadRow {
  Content content = Content::task;
  int64_t length = 0;
  int64_t tokens = 0;
  int64_t layer = 0, head = 0;  ///< from 1
  std::string head_class;
  bool positional = false;
  HeadMeasures measures;
  double offset_least = 0;  ///< least weight at measures.offset over queries and contents, bare ones included
  double diagonal = 0, previous = 0;
  double entropy = 0, distance = 0, furthest = 0;
  std::vector<double> profile;    ///< mean score by distance
  std::optional<ProfileFit> fit;  ///< none where sequences are too short
};

/// Fills columns, rows, summary and shown.
void tabulate_heads(const std::vector<HeadRow>& rows, AnalysisOutput& output);

/// `like ALiBi with slope 0.12`, or what else the profile over distance looks like.
std::string say_family(const ProfileFit& fit);

}  // namespace lengthwise
