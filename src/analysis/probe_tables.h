#pragma once
/// Scores of probes as rows of the table, as a summary and as text for the terminal.
#include <vector>

#include "analysis/inputs.h"
#include "analysis/output.h"
#include "analysis/probe_fits.h"

namespace lengthwise {

/// Fills columns, rows, summary and shown.
void tabulate_probes(const std::vector<ProbeResult>& results, const AnalysisInputs& inputs, AnalysisOutput& output);

}  // namespace lengthwise
