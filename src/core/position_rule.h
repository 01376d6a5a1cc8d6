#pragma once
/// The rule by which the tokens of a sequence get positions besides their index. An encoding states it; data and
/// batches apply it (data/placing.h), so that nothing inside a model makes positions.
#include <cstdint>

namespace lengthwise {

enum class PositionKind {
  randomized,    ///< a random subset of 0..max-1, ascending
  random_float,  ///< random real numbers of [0, max), ascending
  digits,        ///< 1, 2, 3, ... within a number, from its first digit on; 0 for what is no digit
  coupled,       ///< the same for what belongs together, as the task says; 0 for what belongs to nothing
};

struct PositionRule {
  PositionKind kind = PositionKind::randomized;
  int64_t max = 0;    ///< positions are below it
  int64_t room = 0;   ///< of the random kinds: drawn for so many tokens for each one of the prompt
  int64_t shift = 0;  ///< of digits: in training those of a step move by one random number up to this

  /// Whole numbers, or real ones.
  bool whole() const { return kind != PositionKind::random_float; }
  /// Of what is drawn, order alone: a later token has a larger position.
  bool ascending() const { return kind == PositionKind::randomized || kind == PositionKind::random_float; }

  bool operator==(const PositionRule&) const = default;
};

}  // namespace lengthwise
