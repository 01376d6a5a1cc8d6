/// What hidden states tell of position and distance: probes of every layer inside and beyond the trained length,
/// against controls (docs/analysis.md).
#include <algorithm>
#include <cmath>

#include "analysis/analysis.h"
#include "analysis/inputs.h"
#include "analysis/probe_fits.h"
#include "analysis/probe_tables.h"
#include "core/error.h"
#include "theory/position_code.h"

namespace lengthwise {
namespace {

constexpr int64_t kSequences = 64;

/// The construction counts from a first token that all sequences have; windows of a text begin anywhere.
bool begin_alike(const AnalysisInputs& inputs) {
  const int64_t first = inputs.groups.front().sequences.front().tokens.front();
  return std::ranges::all_of(inputs.groups, [&](const InputGroup& group) {
    return std::ranges::all_of(group.sequences,
                               [&](const InputSequence& sequence) { return sequence.tokens.front() == first; });
  });
}

/// A decoder without positional encoding in the run's shape whose first layer writes the position (theory/), or
/// nothing, with a note that says why.
std::unique_ptr<Decoder> constructed_twin(const Subject& subject, const AnalysisInputs& inputs,
                                          std::vector<std::string>& notes) {
  ModelConfig config = subject.run.config.model;
  if (!config.is_decoder()) {
    notes.push_back(fmt::format(
        "no constructed weights as a control: they are a decoder's, and this is a run of the architecture {}",
        config.architecture));
    return nullptr;
  }
  if (!begin_alike(inputs)) {
    notes.push_back(
        "no constructed weights as a control: they count from a first token that all sequences share, and these begin "
        "with different ones");
    return nullptr;
  }
  config.encoding = "nope";
  int64_t longest = 0;
  for (const InputGroup& group : inputs.groups) longest = std::max(longest, group.longest());
  const int64_t written = std::min(longest, config.ff_width);
  if (written < longest) {
    notes.push_back(
        fmt::format("constructed weights count up to {} tokens, as many as the feed-forward has units; the "
                    "longest sequence has {}",
                    written, longest));
  }
  std::vector<double> places(static_cast<size_t>(written));
  for (size_t t = 0; t < places.size(); ++t) places[t] = static_cast<double>(t + 1);
  auto decoder = std::make_unique<Decoder>(config, 1, at::kFloat, subject.device());
  try {
    write_positions(*decoder, inputs.groups.front().sequences.front().tokens.front(),
                    {{code_dims::position, std::move(places)}});
  } catch (const UserError& error) {
    notes.push_back(fmt::format("no constructed weights as a control: {}", error.what()));
    return nullptr;
  }
  return decoder;
}

class Probe : public Analysis {
 public:
  void visit_options(const VisitOption& field) override {
    field("tokens", &tokens_, "tokens of each sequence that probes look at");
    field("steps", &steps_, "steps that a nonlinear probe is trained");
  }

  void measure(const std::vector<std::filesystem::path>& runs, const AnalysisOptions& options, const Deliver& deliver,
               Progress& progress) override {
    if (options.sequences != 0 && options.sequences < kFewestProbeSequences)
      fail("--sequences must be at least {}, to fit, choose and test on different ones, not {}", kFewestProbeSequences,
           options.sequences);
    if (tokens_ < 2) fail("--tokens must be at least 2, not {}", tokens_);
    if (steps_ < 1) fail("--steps must be positive, not {}", steps_);
    for (const std::filesystem::path& run : runs) deliver(look_at(run, options, progress));
  }

 private:
  AnalysisOutput look_at(const std::filesystem::path& run, const AnalysisOptions& options, Progress& progress) const {
    const Subject subject = load_subject(run, options.weights, options.device);
    if (!subject.run.device_note.empty()) progress.line(subject.run.device_note);
    const auto seed = static_cast<uint64_t>(options.seed);
    AnalysisInputs inputs = make_inputs(subject, {.lengths = options.lengths,
                                                  .sequences = options.sequences == 0 ? kSequences : options.sequences,
                                                  .content = options.content,
                                                  .seed = seed});
    AnalysisOutput output = output_of(subject);
    output.notes = inputs.notes;
    for (const InputGroup& group : inputs.groups) {
      if (static_cast<int64_t>(group.sequences.size()) >= kFewestProbeSequences) continue;
      fail("{} has {} examples of length {}, and probes need at least {}", subject.name, group.sequences.size(),
           group.length, kFewestProbeSequences);
    }
    const std::unique_ptr<Model> untrained = untrained_twin(subject);
    const std::unique_ptr<Decoder> constructed = constructed_twin(subject, inputs, output.notes);
    std::vector<ProbeResult> results;
    int64_t done = 0;
    const int64_t contents = options.content == "both" ? 2 : 1;
    for (const Content content : {Content::exchanged, Content::task}) {
      std::vector<InputGroup> groups;
      for (const InputGroup& group : inputs.groups) {
        if (group.content == content) groups.push_back(group);
      }
      if (groups.empty()) continue;
      const std::vector<ProbePlace> places = sample_places(groups, tokens_, seed);
      const auto look = [&](const std::string& name, const at::Tensor& states, bool shuffled) {
        for (const ProbeTarget& target : {position_target(places), distance_target(places, seed)}) {
          const ProbeSplit split(inputs, groups, places, target);
          for (const bool all : {false, true}) {
            progress.update(done++, 20 * contents, fmt::format("{}: {} states, {}", subject.name, name, target.name));
            std::vector<ProbeResult> found =
                fit_probes(target, split, states, {.all = all, .shuffled = shuffled, .steps = steps_, .seed = seed});
            for (ProbeResult& result : found) {
              result.content = to_text(content);
              result.states = name;
              results.push_back(std::move(result));
            }
          }
        }
      };
      {
        const at::Tensor states = collect_states(subject.model(), groups, places);
        look("trained", states, false);
        look("trained", states, true);
      }
      look("untrained", collect_states(*untrained, groups, places), false);
      if (constructed) look("constructed", collect_states(*constructed, groups, places), false);
      look("token", token_states(places, subject.device()), false);
    }
    tabulate_probes(results, inputs, output);
    return output;
  }

  int64_t tokens_ = 48;
  int64_t steps_ = 400;
};

}  // namespace

std::unique_ptr<Analysis> make_probe() {
  return std::make_unique<Probe>();
}

}  // namespace lengthwise
