#pragma once
/// One word for what a head does, and whether it does it because of position.
///
/// | class | if |
/// |---|---|
/// | diagonal, previous, offset-k | at least half of the weight lies on the query's own place, the one before, k before
/// | | uniform | weights differ from 1/n by less than 4 % of the whole | | induction | from the second occurrence of a
/// token, at least .4 of the weight goes to what followed the first | | first | at least half of the weight lies on the
/// first token | | local | at least half of the weight lies on the nearest eight, where uniform weights put less than a
/// quarter there | | content | weights of one query in two contents have little in common | | diffuse | none of these |
///
/// The classes stand in the order in which they are asked for. A head is *positional* if it has the same class with its
/// content exchanged and most of its pattern survives the exchange.
#include <cstdint>
#include <string>

namespace lengthwise {

/// What was measured of one head, as in HeadSums.
struct HeadMeasures {
  double offset_weight = 0;  ///< the largest weight on one distance
  int64_t offset = 0;        ///< that distance
  double first = 0, near = 0, uneven = 0, survives = 0, induction = 0;
  double near_if_uniform = 0;  ///< what `near` would be with uniform weights
};

std::string classify_head(const HeadMeasures& measures);

/// Of a class found with the task's content, given what was found with content exchanged.
bool is_positional(const std::string& with_task, const std::string& exchanged, double survives);

inline constexpr double kSurvives = 0.75;

}  // namespace lengthwise
