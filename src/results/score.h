#pragma once
/// One number to compare: how one model did on sequences longer than it was trained on. Made of a finished run, or of a
/// line of anybody's CSV file.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace lengthwise {

/// Examples of one length and how many of them were right.
struct LengthCount {
  int64_t length = 0;
  bool trained = false;  ///< measured on validation examples: a length that occurs in training
  int64_t count = 0;
  int64_t correct = 0;
};

/// `correct` of `count`; a count of 0 means that nobody counted.
struct Tally {
  int64_t count = 0;
  int64_t correct = 0;

  bool known() const { return count > 0; }
  double share() const { return count == 0 ? 0 : static_cast<double>(correct) / static_cast<double>(count); }
};

struct Score {
  std::string split;     ///< the task and whatever else varies besides encoding and seed
  std::string category;  ///< of the split, as in the paper: `primitive`, `reasoning`, `classic`; may be empty
  std::string encoding;
  std::string seed;
  double accuracy = 0;                 ///< over all longer examples
  Tally longer;                        ///< the same in examples, where known
  Tally trained;                       ///< over examples of the training lengths, where known
  std::vector<LengthCount> lengths;    ///< ascending; empty where only the total is known
  std::optional<int64_t> train_limit;  ///< the longest length of training
  bool scratchpad = false;             ///< the study ranks encodings without scratchpad only
};

}  // namespace lengthwise
