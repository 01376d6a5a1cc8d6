/// Divergence between the attention of two models: the nearest pair of heads, by layer and length (docs/analysis.md).
#include <algorithm>
#include <optional>

#include "analysis/analysis.h"
#include "analysis/attention_pair.h"
#include "analysis/bootstrap.h"
#include "analysis/inputs.h"
#include "analysis/similarity_tables.h"
#include "core/config.h"
#include "core/error.h"
#include "core/files.h"
#include "train/run_folder.h"

namespace lengthwise {
namespace {

constexpr int64_t kSequences = 10;  ///< as many as the founding study took

/// Options of the model as one text.
std::string model_text(const Subject& subject) {
  Json json = Json::object();
  add_to_json(subject.run.config.model, json);
  return json_text(json);
}

/// What the other run is to the reference.
std::string relation_of(const Subject& reference, const Subject& other) {
  if (real_path(reference.folder) == real_path(other.folder)) return "itself";
  if (reference.encoding() != other.encoding()) return "encoding";
  return model_text(reference) == model_text(other) && reference.run.config.seed != other.run.config.seed ? "baseline"
                                                                                                          : "variant";
}

void check_comparable(const Subject& a, const Subject& b) {
  const DataConfig& left = a.run.config.data;
  const DataConfig& right = b.run.config.data;
  const auto name = [](const DataConfig& data) { return data_name(data); };
  if (name(left) != name(right))
    fail("{} is a run of {} and {} one of {}; only runs of the same task can be compared", shown(a.folder), name(left),
         shown(b.folder), name(right));
  if (!(a.run.vocabulary == b.run.vocabulary) || !(frame_of(left) == frame_of(right)))
    fail("{} and {} have different vocabularies, and read the same examples as different tokens", shown(a.folder),
         shown(b.folder));
  if (a.decoder().config().layers != b.decoder().config().layers)
    fail("{} has {} layers and {} has {}; layers are compared one with one", shown(a.folder),
         a.decoder().config().layers, shown(b.folder), b.decoder().config().layers);
}

/// One layer at one length.
struct Cell {
  std::vector<double> nearest;  ///< [sequence] of the nearest pair of heads
  at::Tensor means;             ///< [head, other head] summed over sequences
};

class Similarity : public Analysis {
 public:
  void visit_options(const VisitOption& field) override {
    field("as-published", &as_published_,
          "beside the Jensen-Shannon divergence what the founding study's code computes instead");
  }

  void measure(const std::vector<std::filesystem::path>& runs, const AnalysisOptions& options, const Deliver& deliver,
               Progress& progress) override {
    for (const size_t reference : references(runs)) deliver(against(runs, reference, options, progress));
  }

 private:
  /// The runs without positional encoding; where there is none, those with the encoding of the first.
  static std::vector<size_t> references(const std::vector<std::filesystem::path>& runs) {
    std::vector<std::string> encodings;
    for (const std::filesystem::path& run : runs) encodings.push_back(read_run_config(run).model.encoding);
    const bool any = std::find(encodings.begin(), encodings.end(), "nope") != encodings.end();
    std::vector<size_t> found;
    for (size_t i = 0; i < runs.size(); ++i) {
      if (encodings[i] == (any ? "nope" : encodings.front())) found.push_back(i);
    }
    return found;
  }

  std::vector<Divergence> divergences() const {
    if (!as_published_) return {Divergence::jensen_shannon};
    return {Divergence::jensen_shannon, Divergence::as_published};
  }

  AnalysisOutput against(const std::vector<std::filesystem::path>& runs, size_t reference,
                         const AnalysisOptions& options, Progress& progress) const {
    const Subject subject = load_subject(runs[reference], options.weights, options.device);
    if (!subject.run.device_note.empty()) progress.line(subject.run.device_note);
    if (as_published_ && subject.decoder().config().heads < 2)
      fail("--as-published compares heads of different numbers, and {} has one head", shown(subject.folder));
    const AnalysisInputs inputs =
        make_inputs(subject, {.lengths = options.lengths,
                              .sequences = options.sequences == 0 ? kSequences : options.sequences,
                              .content = options.content,
                              .seed = static_cast<uint64_t>(options.seed)});
    AnalysisOutput output = output_of(subject);
    output.notes = inputs.notes;
    output.summary["trained_tokens"] = inputs.trained_tokens;
    std::vector<ComparedRun> others;
    std::vector<LayerDivergence> found;
    for (size_t i = 0; i < runs.size(); ++i) {
      if (i == reference) continue;
      const Subject other = load_subject(runs[i], options.weights, subject.run.config.device);
      check_comparable(subject, other);
      others.push_back({other.name, other.encoding(), other.run.config.seed, relation_of(subject, other)});
      for (const InputGroup& group : inputs.groups) {
        progress.update(static_cast<int64_t>(i), static_cast<int64_t>(runs.size()),
                        fmt::format("{} and {}: length {}", subject.name, other.name, group.length));
        const std::optional<int64_t> limit = other.decoder().encoding().position_limit();
        if (limit && group.longest() > *limit) {
          output.notes.push_back(
              fmt::format("{} was left out at length {}: its encoding has {} positions, and a "
                          "sequence has {} tokens",
                          other.name, group.length, *limit, group.longest()));
          continue;
        }
        for (LayerDivergence& entry : compare(subject, other, group, static_cast<uint64_t>(options.seed))) {
          entry.other = others.size() - 1;
          found.push_back(std::move(entry));
        }
      }
    }
    tabulate_similarity(others, found, output);
    return output;
  }

  /// Every layer, then the mean over layers.
  std::vector<LayerDivergence> compare(const Subject& subject, const Subject& other, const InputGroup& group,
                                       uint64_t seed) const {
    const std::vector<Divergence> which = divergences();
    const auto layers = static_cast<size_t>(subject.decoder().config().layers);
    std::vector<std::vector<Cell>> cells(which.size(), std::vector<Cell>(layers));
    for (const InputSequence& sequence : group.sequences) {
      const auto means = compare_attention(subject.decoder(), other.decoder(), sequence.tokens, which);
      for (size_t d = 0; d < which.size(); ++d) {
        for (size_t layer = 0; layer < layers; ++layer) {
          Cell& cell = cells[d][layer];
          cell.nearest.push_back(nearest_heads(means[d][layer], which[d]).divergence);
          cell.means = cell.means.defined() ? cell.means + means[d][layer] : means[d][layer];
        }
      }
    }
    std::vector<LayerDivergence> found;
    for (size_t d = 0; d < which.size(); ++d) {
      LayerDivergence entry{.content = group.content,
                            .divergence = which[d],
                            .length = group.length,
                            .tokens = group.longest(),
                            .nearest = {},
                            .sequences = static_cast<int64_t>(group.sequences.size()),
                            .heads = {}};
      std::vector<double> over_layers(group.sequences.size(), 0);
      for (size_t layer = 0; layer < layers; ++layer) {
        const Cell& cell = cells[d][layer];
        entry.layer = static_cast<int64_t>(layer) + 1;
        entry.nearest = bootstrap_mean(cell.nearest, seed);
        entry.heads = nearest_heads(cell.means, which[d]);
        found.push_back(entry);
        for (size_t i = 0; i < over_layers.size(); ++i) over_layers[i] += cell.nearest[i] / static_cast<double>(layers);
      }
      entry.layer = 0;
      entry.nearest = bootstrap_mean(over_layers, seed);
      found.push_back(entry);
    }
    return found;
  }

  bool as_published_ = false;
};

}  // namespace

std::unique_ptr<Analysis> make_similarity() {
  return std::make_unique<Similarity>();
}

}  // namespace lengthwise
