/// What every head of a run does, by length and content: its class, whether it is positional, its profile over distance
/// and the family of encodings that this looks like (docs/analysis.md).
#include <ATen/ATen.h>

#include <algorithm>
#include <optional>
#include <set>

#include "analysis/analysis.h"
#include "analysis/distance_families.h"
#include "analysis/head_classes.h"
#include "analysis/head_maps.h"
#include "analysis/head_sums.h"
#include "analysis/head_tables.h"
#include "analysis/inputs.h"
#include "core/error.h"
#include "core/files.h"

namespace lengthwise {
namespace {

constexpr int64_t kSequences = 16;
constexpr int64_t kFewestTokens = 2 * kNear;
constexpr int64_t kFewestDistances = 8;

using Sequences = std::vector<std::vector<int64_t>>;

/// All sequences of a group, cut to the shortest: what a token sees does not depend on what follows it.
Sequences even_sequences(const InputGroup& group) {
  size_t shortest = group.sequences.front().tokens.size();
  for (const InputSequence& sequence : group.sequences) shortest = std::min(shortest, sequence.tokens.size());
  Sequences list;
  for (const InputSequence& sequence : group.sequences)
    list.emplace_back(sequence.tokens.begin(), sequence.tokens.begin() + static_cast<int64_t>(shortest));
  return list;
}

/// Contents that leave a head nothing but position: one token repeated, and two that alternate.
Sequences bare_sequences(const Sequences& exchanged) {
  const std::vector<int64_t>& like = exchanged.front();
  std::vector<int64_t> repeated(like.size(), like[1]);
  std::vector<int64_t> alternating(like);
  const auto other = std::find_if(like.begin() + 2, like.end(), [&](int64_t token) { return token != like[1]; });
  for (size_t i = 1; i < like.size(); ++i) alternating[i] = i % 2 == 1 || other == like.end() ? like[1] : *other;
  repeated.front() = like.front();
  return {repeated, alternating};
}

/// [first, block, block] with different tokens in the block, as many as there are and fit.
Sequences repeated_blocks(const Sequences& exchanged) {
  Sequences list;
  for (const std::vector<int64_t>& like : exchanged) {
    std::vector<int64_t> block;
    std::set<int64_t> used;
    for (size_t i = 1; i < like.size() && block.size() < (like.size() - 1) / 2; ++i) {
      if (used.insert(like[i]).second) block.push_back(like[i]);
    }
    if (block.size() < 2) continue;
    std::vector<int64_t> sequence{like.front()};
    sequence.insert(sequence.end(), block.begin(), block.end());
    sequence.insert(sequence.end(), block.begin(), block.end());
    list.push_back(std::move(sequence));
  }
  return list;
}

double near_if_uniform(int64_t tokens) {
  double sum = 0;
  for (int64_t query = kNear; query < tokens; ++query)
    sum += static_cast<double>(kNear) / static_cast<double>(query + 1);
  return sum / static_cast<double>(tokens - kNear);
}

class Heads : public Analysis {
 public:
  void visit_options(const VisitOption& field) override {
    field("maps", &maps_, "keep every head's map of one sequence of each length in heads.json, for the report");
  }

  void measure(const std::vector<std::filesystem::path>& runs, const AnalysisOptions& options, const Deliver& deliver,
               Progress& progress) override {
    for (const std::filesystem::path& run : runs) deliver(look_at(run, options, progress));
  }

 private:
  AnalysisOutput look_at(const std::filesystem::path& run, const AnalysisOptions& options, Progress& progress) const {
    const Subject subject = load_subject(run, options.weights, options.device);
    const Decoder& decoder = subject.decoder();
    if (!subject.run.device_note.empty()) progress.line(subject.run.device_note);
    // Both contents are needed to say what is positional; --content says which of them are told.
    AnalysisInputs inputs = make_inputs(subject, {.lengths = options.lengths,
                                                  .sequences = options.sequences == 0 ? kSequences : options.sequences,
                                                  .content = "both",
                                                  .seed = static_cast<uint64_t>(options.seed)});
    AnalysisOutput output = output_of(subject);
    output.notes = inputs.notes;
    std::vector<HeadRow> rows;
    Json maps = Json::array();
    int64_t done = 0;
    for (const InputGroup& task : inputs.groups) {
      if (task.content != Content::task) continue;
      progress.update(done++, static_cast<int64_t>(inputs.groups.size()) / 2,
                      fmt::format("{}: length {}", subject.name, task.length));
      const auto exchanged = std::find_if(inputs.groups.begin(), inputs.groups.end(), [&](const InputGroup& group) {
        return group.content == Content::exchanged && group.length == task.length;
      });
      LENGTHWISE_CHECK(exchanged != inputs.groups.end(), "no exchanged content of length {}", task.length);
      const Sequences with_task = even_sequences(task);
      const auto tokens = static_cast<int64_t>(with_task.front().size());
      if (tokens < kFewestTokens) {
        output.notes.push_back(
            fmt::format("length {} was left out: sequences of {} tokens are too short to tell heads "
                        "apart; {} would do",
                        task.length, tokens, kFewestTokens));
        continue;
      }
      for (HeadRow& row : look_at_length(subject, task.length, with_task, even_sequences(*exchanged))) {
        if (options.content == "both" || options.content == to_text(row.content)) rows.push_back(std::move(row));
      }
      if (maps_) {
        Json map = head_maps(decoder, task.sequences.front().tokens);
        map["length"] = task.length;
        Json words = Json::array();
        for (const int64_t token : task.sequences.front().tokens)
          words.push_back(subject.run.vocabulary.decode(std::vector<int32_t>{static_cast<int32_t>(token)}));
        map["words"] = std::move(words);
        maps.push_back(std::move(map));
      }
    }
    if (rows.empty()) fail("{}: no length has sequences of {} tokens; give --lengths", shown(run), kFewestTokens);
    tabulate_heads(rows, output);
    if (maps_) output.summary["maps"] = std::move(maps);
    return output;
  }

  static std::vector<HeadRow> look_at_length(const Subject& subject, int64_t length, const Sequences& with_task,
                                             const Sequences& exchanged) {
    const Decoder& decoder = subject.decoder();
    const ModelConfig& config = decoder.config();
    const auto tokens = static_cast<int64_t>(with_task.front().size());
    const HeadSums task_sums = sum_heads(decoder, with_task);
    const HeadSums exchanged_sums = sum_heads(decoder, exchanged);
    const HeadSums bare = sum_heads(decoder, bare_sequences(exchanged));
    const Sequences blocks = repeated_blocks(exchanged);
    const at::Tensor induction =
        blocks.empty() ? at::zeros({config.layers, config.heads}, at::kDouble) : induction_scores(decoder, blocks);
    std::vector<HeadRow> rows;
    for (const Content content : {Content::task, Content::exchanged}) {
      const HeadSums& sums = content == Content::task ? task_sums : exchanged_sums;
      // Distance 0 is often an exception.
      const at::Tensor profiles = sums.profile.narrow(2, 1, sums.profile.size(2) - 1).flatten(0, 1);
      std::vector<ProfileFit> fits;
      if (profiles.size(1) >= kFewestDistances) fits = fit_families(profiles, 1);
      for (int64_t layer = 0; layer < config.layers; ++layer) {
        for (int64_t head = 0; head < config.heads; ++head) {
          HeadRow row = measured(sums, induction, layer, head, tokens);
          row.content = content;
          row.length = length;
          row.tokens = tokens;
          row.offset_least = std::min(exchanged_sums.least[layer][head][row.measures.offset].item<double>(),
                                      bare.least[layer][head][row.measures.offset].item<double>());
          if (!fits.empty()) row.fit = fits[static_cast<size_t>(layer * config.heads + head)];
          rows.push_back(std::move(row));
        }
      }
    }
    const size_t half = rows.size() / 2;
    for (size_t i = 0; i < half; ++i) {
      const bool positional =
          is_positional(rows[i].head_class, rows[i + half].head_class, rows[i + half].measures.survives);
      rows[i].positional = rows[i + half].positional = positional;
    }
    return rows;
  }

  static HeadRow measured(const HeadSums& sums, const at::Tensor& induction, int64_t layer, int64_t head,
                          int64_t tokens) {
    const auto value = [&](const at::Tensor& table) { return table[layer][head].item<double>(); };
    HeadRow row;
    row.layer = layer + 1;
    row.head = head + 1;
    const at::Tensor offsets = sums.offsets[layer][head];
    row.measures.offset = offsets.argmax().item<int64_t>();
    row.measures.offset_weight = offsets.max().item<double>();
    row.diagonal = offsets[0].item<double>();
    row.previous = offsets[1].item<double>();
    row.measures.first = value(sums.first);
    row.measures.near = value(sums.near);
    row.measures.uneven = value(sums.uneven);
    row.measures.survives = value(sums.survives);
    row.measures.induction = value(induction);
    row.measures.near_if_uniform = near_if_uniform(tokens);
    row.entropy = value(sums.entropy);
    row.distance = value(sums.distance);
    row.furthest = value(sums.furthest);
    row.head_class = classify_head(row.measures);
    const at::Tensor profile = sums.profile[layer][head].contiguous();
    row.profile.assign(profile.const_data_ptr<double>(), profile.const_data_ptr<double>() + profile.numel());
    return row;
  }

  bool maps_ = true;
};

}  // namespace

std::unique_ptr<Analysis> make_heads() {
  return std::make_unique<Heads>();
}

}  // namespace lengthwise
