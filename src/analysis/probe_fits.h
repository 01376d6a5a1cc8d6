#pragma once
/// Probes of one target fitted on the states of one model, and their scores by layer and length.
#include <string>
#include <vector>

#include "analysis/probe_rows.h"
#include "analysis/probe_scores.h"

namespace lengthwise {

/// One score: a line of the table.
struct ProbeResult {
  std::string content;  ///< task or exchanged
  std::string states;   ///< trained, untrained, constructed or token
  std::string labels;   ///< true or shuffled
  std::string target;   ///< position or distance
  std::string probe;    ///< linear or nonlinear
  std::string fit;      ///< trained: on sequences of the trained lengths; all: on those of all lengths
  int64_t layer = 0;    ///< 0: the embedding's output; n: behind layer n
  int64_t length = 0;   ///< of the tested sequences
  std::string where;    ///< inside or beyond the trained length
  double penalty = 0;   ///< of a linear probe
  ProbeScore score;
};

/// Which rows are for what. A row of a sequence that is no longer than the trained length is inside; of longer ones the
/// rows count as beyond whose (later) token stands where no token of training stood.
class ProbeSplit {
 public:
  ProbeSplit(const AnalysisInputs& inputs, const std::vector<InputGroup>& groups, const std::vector<ProbePlace>& places,
             const ProbeTarget& target);

  struct Cell {
    int64_t length = 0;
    std::string where;
    std::vector<int64_t> rows;
    std::vector<int64_t> sequences;  ///< [row]
  };
  /// Rows of a part; `all`: of every length, otherwise inside alone.
  const std::vector<int64_t>& rows(ProbePart part, bool all) const;
  const std::vector<Cell>& cells() const { return cells_; }

 private:
  std::vector<int64_t> inside_[2], all_[2];
  std::vector<Cell> cells_;
};

struct ProbeFit {
  bool all = false;       ///< fitted on sequences of all lengths
  bool shuffled = false;  ///< control: labels of the fit exchanged among its rows
  int64_t steps = 400;    ///< that a nonlinear probe is trained
  uint64_t seed = 1;
};

/// Linear and nonlinear probes on every layer of `states` [layer + 1, place, feature]. Of every result layer, probe,
/// fit, labels, target, length, where and the score are set. Nothing where there are no rows to fit on.
std::vector<ProbeResult> fit_probes(const ProbeTarget& target, const ProbeSplit& split, const at::Tensor& states,
                                    const ProbeFit& fit);

}  // namespace lengthwise
