#include "ledger/published.h"

#include <algorithm>
#include <array>

namespace lengthwise {
namespace {

constexpr size_t kEncodings = 5;

struct Row {
  const char* task;
  std::array<PublishedAccuracy, kEncodings> cells;
};

constexpr Row kRows[] = {
    {"copy-rsc", {{{.986, .006}, {.771, .053}, {.289, .030}, {.000, 0}, {.000, 0}}}},
    {"copy-cmc2x", {{{.431, .009}, {.524, .023}, {.569, .021}, {.043, .005}, {.040, .003}}}},
    {"reverse-mc2x", {{{.473, .007}, {.448, .038}, {.195, .040}, {.053, .005}, {.011, .002}}}},
    {"addition", {{{.085, .023}, {.072, .013}, {.077, .003}, {.000, 0}, {.004, .002}}}},
    {"sort", {{{.995, .001}, {.987, .006}, {.623, .023}, {.489, .124}, {.102, .022}}}},
    {"sort-multi", {{{.264, .054}, {.371, .084}, {.295, .016}, {.751, .113}, {.112, .004}}}},
    {"polynomial", {{{.387, .015}, {.360, .038}, {.631, .011}, {.481, .027}, {.213, .001}}}},
    {"scan", {{{.797, .029}, {.798, .034}, {.438, .038}, {.283, .064}, {.057, .014}}}},
};

struct RankRow {
  const char* category;
  std::array<double, kEncodings> ranks;
};

constexpr RankRow kRanks[] = {
    {"", {.6869, .5490, .5023, .3297, .2154}},
    {"primitive", {.799, .597, .434, .243, .210}},
    {"reasoning", {.612, .449, .593, .404, .226}},
    {"classic", {.500, .708, .458, .417, .200}},
};

std::optional<size_t> place_of(std::string_view encoding) {
  const auto& names = published_encodings();
  const auto found = std::find(names.begin(), names.end(), encoding);
  return found == names.end() ? std::nullopt : std::optional(static_cast<size_t>(found - names.begin()));
}

}  // namespace

double PublishedAccuracy::distance(double value) const {
  constexpr double kHalfOfTheLastDigit = 0.0005;
  return (value - mean) / std::max(deviation, kHalfOfTheLastDigit);
}

const std::vector<std::string>& published_encodings() {
  static const std::vector<std::string> names = {"nope", "t5", "alibi", "rope", "sinusoidal"};
  return names;
}

std::optional<PublishedAccuracy> published_accuracy(std::string_view task, std::string_view encoding) {
  const std::optional<size_t> place = place_of(encoding);
  for (const Row& row : kRows) {
    if (place && task == row.task) return row.cells[*place];
  }
  return std::nullopt;
}

std::optional<double> published_reciprocal_rank(std::string_view category, std::string_view encoding) {
  const std::optional<size_t> place = place_of(encoding);
  for (const RankRow& row : kRanks) {
    if (place && category == row.category) return row.ranks[*place];
  }
  return std::nullopt;
}

}  // namespace lengthwise
