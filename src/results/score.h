#pragma once
/// One number to compare: how one model did on sequences longer than any it was trained on. Made of a finished run, or
/// of a line of anybody's CSV file.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace lengthwise {

/// Examples of one length and how many of them were right.
struct LengthCount {
  int64_t length = 0;
  bool validation = false;  ///< validation examples, of lengths that occur in training; otherwise test examples
  int64_t count = 0;
  int64_t correct = 0;
  double loss = 0;  ///< mean over target tokens, nats; 0 where nobody says
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
  std::string label = {};   ///< of the encoding, as its run says; empty: encoding_names.h
  std::string family = {};  ///< the same
  std::string seed;
  std::string tuned;                   ///< the values of options to be chosen by validation, `lr=0.001`; may be empty
  std::optional<double> accuracy;      ///< over test examples longer than any in training; none where there are none
  Tally longer;                        ///< the same in examples, where known
  Tally inside;                        ///< over test examples that are not longer: shown, and counted nowhere
  Tally trained;                       ///< over validation examples, where known
  double trained_loss = 0;             ///< of validation examples, mean over lengths weighted by examples
  std::vector<LengthCount> lengths;    ///< ascending; empty where only the total is known
  std::optional<int64_t> train_limit;  ///< the longest length of training, where known
  bool scratchpad = false;             ///< the study ranks encodings without scratchpad only
};

/// Whether these are test examples longer than any in training. Where nobody says how long those were, test examples
/// are taken to be longer.
bool is_longer(const LengthCount& row, std::optional<int64_t> train_limit);

/// Sorts `lengths` (of equal ones validation first) and fills every number that follows from them and `train_limit`.
void add_up_lengths(Score& score);

}  // namespace lengthwise
