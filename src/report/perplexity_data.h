#pragma once
/// Perplexity by context, for the charts of a report; perplexity.js adds up the seeds.
///
///     texts  [{name, checksum, crossed}]: what was measured
///     runs   [{run, rows: [{text, with, window, stride, tokens, bytes, nats, positions: [[from, to, tokens, nats],
///            ...], line}, ...]}]
///
/// `run` is the place of the run in the report's list, `text` that of the text, `with` the label of the encoding where
/// another one than in training was measured with, `stride` 0 where windows do not overlap, `nats` a sum (null where it
/// is no number), and `line` the protocol.
#include <nlohmann/json_fwd.hpp>

#include "results/load_results.h"

namespace lengthwise {

/// Of the finished runs on text; null where there are none. What cannot be read is left out, with a line in the notes.
nlohmann::ordered_json perplexity_data(const Results& results, const std::string& weights,
                                       std::vector<std::string>& notes);

}  // namespace lengthwise
