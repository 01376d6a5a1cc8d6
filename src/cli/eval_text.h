#pragma once
/// `lengthwise eval` of a run on text: perplexity by context.
#include <string>

#include "core/progress.h"
#include "eval/load_run.h"

namespace lengthwise {

struct EvalTextOptions {
  std::string run;
  std::string weights;
  std::string text;  ///< a folder of prepared text; empty: the run's own
  std::string contexts;
  int64_t stride = 0;
  int64_t tokens = 0;
  bool json = false;
};

/// Prints a table and adds what was measured to the run's perplexity.json.
void evaluate_text_run(const LoadedRun& run, const EvalTextOptions& options, Progress& progress);

}  // namespace lengthwise
