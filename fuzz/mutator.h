#pragma once
/// Inputs for the fuzz target: valid prompts, lines and vocabularies of every task, damaged in many ways.
#include <string>
#include <vector>

#include "core/rng.h"

namespace lengthwise::fuzz {

class Mutator {
 public:
  explicit Mutator(uint64_t seed);

  /// Input `index`: a pure function of the seed and the index.
  std::string input(uint64_t index) const;

 private:
  void damage(std::string& text, Rng& rng) const;

  Rng rng_;
  std::vector<std::string> seeds_;  ///< in the form of fuzz_text.h
};

}  // namespace lengthwise::fuzz
