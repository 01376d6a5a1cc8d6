#include "analysis/head_sums.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/error.h"
#include "model/inspect.h"

namespace lengthwise {
namespace {

constexpr int64_t kKeptQueries = 32;  // of which weights are kept, to compare them between sequences

/// Sums of one layer.
struct LayerSums {
  at::Tensor offsets, least, first, near, uneven, entropy, distance, furthest;
  at::Tensor profile;             // over queries of all sequences
  at::Tensor kept, kept_squares;  // [head, kept query, key] and [head, kept query]
};

class Gatherer {
 public:
  /// Sums are made where the weights lie, which are far more than them.
  Gatherer(const ModelConfig& config, int64_t tokens, at::Device device)
      : heads_(config.heads),
        tokens_(tokens),
        whole_(at::TensorOptions(at::kLong).device(device)),
        layers_(static_cast<size_t>(config.layers)) {
    const at::TensorOptions options = whole_.dtype(at::kDouble);
    for (LayerSums& sums : layers_) {
      for (at::Tensor* one : {&sums.first, &sums.near, &sums.uneven, &sums.entropy, &sums.distance, &sums.furthest})
        *one = at::zeros({heads_}, options);
      sums.offsets = at::zeros({heads_, kOffsets}, options);
      sums.least = at::full({heads_, kOffsets}, std::numeric_limits<double>::infinity(), options);
      sums.profile = at::zeros({heads_, tokens / 2}, options);
      sums.kept = at::zeros({heads_, kKeptQueries, tokens}, options);
      sums.kept_squares = at::zeros({heads_, kKeptQueries}, options);
    }
    // Spread over all queries that count.
    for (int64_t k = 0; k < kKeptQueries; ++k)
      kept_queries_.push_back(kNear + (tokens - 1 - kNear) * k / (kKeptQueries - 1));
  }

  void add(const AttentionRows& rows) {
    LayerSums& sums = layers_[static_cast<size_t>(rows.layer)];
    const int64_t skipped = std::max<int64_t>(0, kNear - rows.first_query);
    const int64_t queries = rows.q.size(1) - skipped;
    if (queries <= 0) return;
    const int64_t from = rows.first_query + skipped;
    const at::Tensor weights = rows.weights.narrow(1, skipped, queries).to(at::kDouble);
    const at::Tensor scores = rows.scores.narrow(1, skipped, queries).to(at::kDouble);
    const at::TensorOptions options = weights.options();
    const at::Tensor query = at::arange(from, from + queries, options);
    const at::Tensor apart = distances_apart(from, queries, tokens_, options.device());
    const at::Tensor seen = query + 1;
    for (int64_t offset = 0; offset < kOffsets; ++offset) {
      const int64_t late = std::max<int64_t>(0, offset - from);
      if (late >= queries) continue;
      const at::Tensor on = weights.narrow(1, late, queries - late).diagonal(from + late - offset, 1, 2);
      sums.offsets.select(1, offset) += on.sum(-1);
      sums.least.select(1, offset).copy_(at::minimum(sums.least.select(1, offset), on.amin(-1)));
    }
    sums.first += weights.select(2, 0).sum(-1);
    sums.near += weights.masked_fill(apart >= kNear, 0).sum({1, 2});
    const at::Tensor uniform = (1 / seen).unsqueeze(1).expand_as(apart).masked_fill(apart < 0, 0);
    sums.uneven += (weights - uniform).abs().sum({1, 2}) / 2;
    const at::Tensor logs = at::where(weights > 0, weights.log(), at::zeros({}, options));
    sums.entropy += (-(weights * logs).sum(-1) / seen.log()).sum(-1);
    sums.distance += ((weights * apart.clamp_min(0)).sum(-1) / query).sum(-1);
    sums.furthest += ((query - scores.argmax(-1).to(at::kDouble)) / seen).sum(-1);
    add_profile(sums, scores, from);
    keep(sums, weights, from);
  }

  void end_sequence() { ++sequences_; }

  HeadSums result() const {
    const auto count = static_cast<double>(sequences_);
    const double queries = count * static_cast<double>(tokens_ - kNear);
    const auto stacked = [&](at::Tensor LayerSums::*member) {
      std::vector<at::Tensor> list;
      for (const LayerSums& sums : layers_) list.push_back(sums.*member);
      return at::stack(list).cpu();
    };
    HeadSums result;
    result.offsets = stacked(&LayerSums::offsets) / queries;
    result.least = stacked(&LayerSums::least);
    result.first = stacked(&LayerSums::first) / queries;
    result.near = stacked(&LayerSums::near) / queries;
    result.uneven = stacked(&LayerSums::uneven) / queries;
    result.entropy = stacked(&LayerSums::entropy) / queries;
    result.distance = stacked(&LayerSums::distance) / queries;
    result.furthest = stacked(&LayerSums::furthest) / queries;
    result.profile = stacked(&LayerSums::profile) / (count * static_cast<double>(tokens_ - tokens_ / 2));
    // sum over s != s' of <a_s, a_s'>  =  |sum a|^2 - sum |a|^2
    const at::Tensor squares = stacked(&LayerSums::kept_squares).sum(-1);
    const at::Tensor whole = stacked(&LayerSums::kept).square().sum({-1, -2});
    result.survives = sequences_ < 2 ? at::ones_like(squares) : (whole - squares) / ((count - 1) * squares);
    return result;
  }

 private:
  /// Rows of the second half see all of the distances, so that subtracting a row's mean takes away nothing but what the
  /// softmax does not see either.
  void add_profile(LayerSums& sums, const at::Tensor& scores, int64_t from) const {
    const int64_t distances = tokens_ / 2;
    const int64_t begin = std::max<int64_t>(from, tokens_ / 2);
    const int64_t queries = from + scores.size(1) - begin;
    if (queries <= 0) return;
    const at::Tensor place =
        at::arange(begin, begin + queries, whole_).unsqueeze(1) - at::arange(distances, whole_).unsqueeze(0);
    const at::Tensor by_distance =
        scores.narrow(1, begin - from, queries).gather(2, place.unsqueeze(0).expand({heads_, queries, distances}));
    sums.profile += (by_distance - by_distance.mean(-1, true)).sum(1);
  }

  void keep(LayerSums& sums, const at::Tensor& weights, int64_t from) const {
    const auto begin = std::ranges::lower_bound(kept_queries_, from);
    const auto end = std::ranges::lower_bound(kept_queries_, from + weights.size(1));
    if (begin == end) return;
    const at::Tensor rows = at::tensor(std::vector<int64_t>(begin, end), at::kLong).to(whole_.device()) - from;
    const at::Tensor kept = weights.index_select(1, rows);
    const int64_t first = begin - kept_queries_.begin();
    sums.kept.narrow(1, first, end - begin) += kept;
    sums.kept_squares.narrow(1, first, end - begin) += kept.square().sum(-1);
  }

  int64_t heads_, tokens_;
  at::TensorOptions whole_;  ///< whole numbers where the model lies
  int64_t sequences_ = 0;
  std::vector<LayerSums> layers_;
  std::vector<int64_t> kept_queries_;
};

}  // namespace

HeadSums sum_heads(const Decoder& decoder, const std::vector<std::vector<int64_t>>& sequences) {
  const auto tokens = static_cast<int64_t>(sequences.front().size());
  LENGTHWISE_CHECK(tokens >= 2 * kNear, "{} tokens are too few to tell heads apart", tokens);
  Gatherer gatherer(decoder.config(), tokens, decoder.device());
  Inspection inspection;
  inspection.attention = [&](const AttentionRows& rows) { gatherer.add(rows); };
  for (const std::vector<int64_t>& sequence : sequences) {
    LENGTHWISE_CHECK(static_cast<int64_t>(sequence.size()) == tokens, "sequences of different lengths");
    inspect(decoder, placed_sequence(decoder, sequence), inspection);
    gatherer.end_sequence();
  }
  return gatherer.result();
}

at::Tensor induction_scores(const Decoder& decoder, const std::vector<std::vector<int64_t>>& sequences) {
  const ModelConfig& config = decoder.config();
  at::Tensor sums = at::zeros({config.layers, config.heads}, at::TensorOptions(at::kDouble));
  int64_t count = 0;
  for (const std::vector<int64_t>& sequence : sequences) {
    const auto block = static_cast<int64_t>(sequence.size() - 1) / 2;
    // x_j stands at places j and block + j; behind its first occurrence at j + 1, a distance of block - 1.
    Inspection inspection;
    inspection.attention = [&](const AttentionRows& rows) {
      const int64_t skipped = std::max<int64_t>(0, block + 1 - rows.first_query);
      const int64_t queries = rows.q.size(1) - skipped;
      if (queries <= 0) return;
      const int64_t from = rows.first_query + skipped;
      sums.select(0, rows.layer) +=
          rows.weights.narrow(1, skipped, queries).diagonal(from - (block - 1), 1, 2).to(at::kCPU, at::kDouble).sum(-1);
    };
    inspect(decoder, placed_sequence(decoder, sequence), inspection);
    count += block;
  }
  return sums / static_cast<double>(count);
}

}  // namespace lengthwise
