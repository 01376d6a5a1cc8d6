#pragma once
/// Options whose value is chosen before anything is compared: for every encoding on every split the one that does best
/// in distribution.
#include <string>
#include <vector>

#include "results/score.h"

namespace lengthwise {

struct TriedValue {
  std::string value;  ///< `lr=0.001`
  size_t seeds = 0;
  double accuracy = 0;  ///< on validation examples, mean over seeds
  double loss = 0;      ///< the same
  bool known = false;   ///< some run has validation examples
};

struct TunedChoice {
  std::string split;
  std::string encoding;
  std::vector<TriedValue> tried;  ///< in the order of appearance
  size_t chosen = 0;
};

/// Of the scores of one split and encoding with something tuned, keeps those with the value whose accuracy on
/// validation examples is highest in the mean over seeds; of equals, the one with the lower loss there, then the first.
/// Scores on longer lengths are not looked at.
std::vector<TunedChoice> choose_tuned(std::vector<const Score*>& scores);

}  // namespace lengthwise
