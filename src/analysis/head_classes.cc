#include "analysis/head_classes.h"

#include <fmt/format.h>

namespace lengthwise {
namespace {

constexpr double kMost = 0.5;
constexpr double kEven = 0.04;
constexpr double kInduction = 0.4;
constexpr double kLittleInCommon = 0.5;
constexpr double kFarMoreThanUniform = 0.25;

}  // namespace

std::string classify_head(const HeadMeasures& measures) {
  if (measures.offset_weight >= kMost) {
    if (measures.offset == 0) return "diagonal";
    return measures.offset == 1 ? "previous" : fmt::format("offset-{}", measures.offset);
  }
  if (measures.uneven < kEven) return "uniform";
  if (measures.induction >= kInduction) return "induction";
  if (measures.first >= kMost) return "first";
  if (measures.near >= kMost && measures.near_if_uniform < kFarMoreThanUniform) return "local";
  if (measures.survives < kLittleInCommon) return "content";
  return "diffuse";
}

bool is_positional(const std::string& with_task, const std::string& exchanged, double survives) {
  return with_task == exchanged && with_task != "content" && with_task != "induction" && with_task != "diffuse" &&
         survives >= kSurvives;
}

}  // namespace lengthwise
