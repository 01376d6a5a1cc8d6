#pragma once
/// Which examples `lengthwise eval` scores: the run's own test set, other lengths of it, or a file of somebody's.
#include <optional>
#include <string>

#include "eval/evaluate.h"
#include "eval/load_run.h"

namespace lengthwise {

struct TestSetOptions {
  std::string data;                    ///< a folder with test.jsonl, or a JSONL file; empty: the run's own data
  std::optional<LengthRange> lengths;  ///< empty: all there are
  std::optional<int64_t> count;        ///< examples per length; empty: of drawn lengths 500, of files all
  std::optional<int64_t> data_seed;    ///< of drawn examples; empty: the run's
};

struct TestSet {
  TokenSet tokens;
  EvaluationOptions how;  ///< what is right is decided as for the run's own data
};

/// UserError when there are no such examples, when a word of theirs is not in the run's vocabulary (with file and
/// line), or when one is longer than the encoding can place.
TestSet make_test_set(const LoadedRun& run, const TestSetOptions& options);

/// Whether the run was trained on that length: `yes`, `longer` (than any it was trained on), `no`, or `?` where nothing
/// tells.
class TrainedLengths {
 public:
  TrainedLengths(const std::filesystem::path& folder, const TrainConfig& config);

  std::string say(int64_t length) const;

 private:
  std::optional<LengthRange> range_;  ///< by the configuration
  std::vector<int64_t> seen_;         ///< by the results, for data that are used whole; ascending
};

}  // namespace lengthwise
