#include "eval/perplexity.h"

#include <bit>
#include <cmath>
#include <numbers>

#include "core/error.h"
#include "infer/teacher_forcing.h"

namespace lengthwise {
namespace {

/// Bin of a token with so many before it: 1, 2, 3 to 4, 5 to 8, ... A window of a power of two ends with a bin.
size_t bin_of(int64_t before) {
  return static_cast<size_t>(std::bit_width(static_cast<uint64_t>(before - 1)));
}

}  // namespace

double ContextScore::perplexity() const {
  return std::exp(sum.mean());
}

double ContextScore::bits_per_byte() const {
  return bytes == 0 ? 0 : sum.nats / std::numbers::ln2 / static_cast<double>(bytes);
}

ContextScore score_context(Scorer& scorer, const std::shared_ptr<const TextStream>& stream,
                           const WindowOptions& options, std::span<const int64_t> token_bytes,
                           const std::function<void(double)>& progress) {
  const TokenSet set = text_windows(stream, options);
  ContextScore score;
  score.window = options.context;
  score.stride = options.stride == 0 ? options.context : options.stride;
  std::vector<LossSum> bins(bin_of(options.context) + 1);
  const auto add = [&](int64_t example, const ScoredTargets& scored) {
    int64_t before = set.prompt_tokens[static_cast<size_t>(example)];
    for (size_t t = 0; t < scored.targets.size(); ++t, ++before) {
      bins[bin_of(before)].add({1, scored.losses[t]});
      score.bytes += token_bytes[static_cast<size_t>(scored.targets[t])];
      score.correct += scored.best[t] == scored.targets[t] ? 1 : 0;
    }
  };
  score_targets(scorer, set, all_examples(set), add, [&](int64_t done) {
    if (progress) progress(static_cast<double>(done) / static_cast<double>(set.size()));
  });
  for (size_t bin = 0; bin < bins.size(); ++bin) {
    score.sum.add(bins[bin]);
    const int64_t to = int64_t{1} << bin;
    if (bins[bin].tokens > 0) score.positions.push_back({to / 2 + 1, std::min(to, options.context), bins[bin]});
  }
  return score;
}

}  // namespace lengthwise
