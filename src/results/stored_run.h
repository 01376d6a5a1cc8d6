#pragma once
/// What one run left behind, read back from its folder (docs/formats.md).
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "results/evaluation_file.h"
#include "results/metrics_file.h"
#include "results/score.h"

namespace lengthwise {

enum class StoredState {
  waiting,     ///< listed in study.json, not begun
  running,     ///< begun, says study.json
  unfinished,  ///< begun, no summary.json, and nobody says that it is still running
  finished,
  failed,   ///< says study.json; `reason` says why
  damaged,  ///< it cannot be read, or its files contradict each other; `reason` says how
};
std::string to_text(StoredState state);

/// A line of examples.jsonl.
struct AnsweredExample {
  int64_t length = 0;
  std::string prompt;
  std::string target;
  std::string answer;
  bool correct = false;
};

struct StoredRun {
  std::string name;
  std::filesystem::path folder;
  StoredState state = StoredState::waiting;
  std::string reason;
  int64_t step = 0;
  int64_t steps = 0;
  std::optional<double> seconds;

  std::vector<std::pair<std::string, std::string>> options;  ///< of config.json, in its order; null is ""
  std::string program;                                       ///< version that trained it
  std::string task;                                          ///< or the name of the folder of data
  std::string encoding;                                      ///< with the options that tell two variants of it apart;
                                                             ///< of a recurrent network its architecture
  std::string label;                                         ///< the same in prose and charts
  std::string family;                                        ///< of the encoding: `rotation`
  std::string seed;
  std::string split;
  std::string tuned;  ///< the values of the options that are chosen by validation: `lr=0.001`; may be empty
  std::string category;
  std::string unit;  ///< of lengths: `words`; may be empty
  bool scratchpad = false;
  std::optional<int64_t> train_limit;  ///< the longest length of training, where known
  bool repeats = false;                ///< an earlier run is the same in all that is compared; that one counts

  std::optional<double> training_seconds;  ///< of training alone, where origin.json says it
  std::string machine, commit;             ///< that made it, the same

  int64_t parameters = 0;
  std::string decoding;
  int64_t weights_step = 0;           ///< of the weights that were evaluated
  std::vector<LengthResult> lengths;  ///< ascending; of equal lengths validation first
  std::vector<Reading> readings;      ///< of the best weights, where those are asked for
  bool is_reading = false;            ///< not a run, but what another encoding than in training makes of one
  std::vector<CurvePoint> loss;
  std::vector<CurvePoint> validation;  ///< exact match
  std::vector<AnsweredExample> examples;

  /// "" where config.json has no such option.
  const std::string& option(const std::string& key) const;
  /// Of a finished run; all that a comparison needs.
  Score score() const;
};

/// What a run is compared by as its config.json has it: the encoding of a decoder, the architecture of anything else.
/// Runs from before there were architectures are decoders.
const std::string& compared_name(const StoredRun& run);

}  // namespace lengthwise
