#pragma once
/// What probes are fitted on: some tokens of every sequence with the hidden states in front of and behind every layer,
/// and what is to be read from them.
#include <ATen/core/Tensor.h>

#include <string>
#include <vector>

#include "analysis/inputs.h"
#include "analysis/network_probe.h"

namespace lengthwise {

/// What a sequence is for. A probe is fitted on some, its strength is chosen on others, and it is tested on the rest:
/// half, a fifth and three tenths of the sequences of every length. Tokens of one sequence are never divided.
enum class ProbePart { fit, choose, test };
ProbePart part_of(size_t sequence, size_t sequences);
inline constexpr int64_t kFewestProbeSequences = 6;

/// A token that is looked at.
struct ProbePlace {
  size_t group = 0;
  size_t sequence = 0;  ///< in its group
  int64_t place = 0;    ///< in its sequence, from 0
  int64_t token = 0;
};

/// At most `tokens` of every sequence, drawn without replacement; ascending. Never the first one, which all sequences
/// begin with: its content tells its place.
std::vector<ProbePlace> sample_places(const std::vector<InputGroup>& groups, int64_t tokens, uint64_t seed);

/// [layer + 1, place, width] float on the model's device: the embedding's output, then behind every layer. Where layers
/// are of different widths, zeros stand behind the narrower ones.
at::Tensor collect_states(const Model& model, const std::vector<InputGroup>& groups,
                          const std::vector<ProbePlace>& places);

/// [1, place, token that occurs] float: which token stands there, and nothing else.
at::Tensor token_states(const std::vector<ProbePlace>& places, at::Device device);

/// What is to be predicted: the position of a token (0, 1, ...), or the distance of a pair of tokens of one sequence,
/// whose features are the states of both, the later first.
struct ProbeTarget {
  std::string name;                     ///< position or distance
  std::vector<int64_t> later, earlier;  ///< [row] places; `earlier` is empty for positions
  std::vector<double> labels;           ///< [row]

  size_t size() const { return labels.size(); }
  /// The rows' features out of [probe, place, feature].
  FeatureRows features(const at::Tensor& states) const;
};
ProbeTarget position_target(const std::vector<ProbePlace>& places);
/// One pair for every place but the first of its sequence: the other is drawn from those before it.
ProbeTarget distance_target(const std::vector<ProbePlace>& places, uint64_t seed);

}  // namespace lengthwise
