#include "batch/assemble.h"

#include <ATen/ATen.h>

#include <numeric>

#include "batch/prompts.h"
#include "core/error.h"

namespace lengthwise {

namespace {

void place_tokens(const TokenSet& set, std::span<const int64_t> examples, const BatchPlacing& by, Batch& batch) {
  for (size_t rule = 0; rule < by.placing->rules.size(); ++rule) {
    std::vector<double> positions;
    for (const int64_t example : examples) {
      const TokenView sequence = set.sequence(example);
      const TokenView read = sequence.first(sequence.size() - 1);
      const std::vector<int32_t> inputs(read.begin(), read.end());
      // A window of a text has nothing to be answered: all of it is read.
      const std::span<const int32_t> prompt =
          set.text ? std::span(inputs) : std::span(inputs).first(set.prompt(example).size());
      const PositionDraw draw =
          by.rng != nullptr ? PositionDraw::training(*by.rng, by.step, example) : PositionDraw::fixed(prompt);
      const std::vector<double> its = by.placing->place(rule, inputs, std::ssize(prompt), draw);
      positions.insert(positions.end(), its.begin(), its.end());
    }
    batch.streams.push_back(stream_tensor(by.placing->rules[rule], positions));
  }
}

}  // namespace

Batch make_batch(const TokenSet& set, std::span<const int64_t> examples, std::span<const int64_t> starts,
                 const BatchPlacing& by) {
  LENGTHWISE_CHECK(starts.empty() || starts.size() == examples.size(), "{} starts for {} sequences", starts.size(),
                   examples.size());
  int64_t tokens = 0;
  int64_t targets = 0;
  for (const int64_t example : examples) {
    tokens += static_cast<int64_t>(set.sequence(example).size()) - 1;
    targets += static_cast<int64_t>(set.target(example).size());
  }
  const auto sequences = static_cast<int64_t>(examples.size());
  Batch batch;
  batch.from_zero = starts.empty();
  batch.tokens = at::empty({tokens}, at::kLong);
  batch.positions = at::empty({tokens}, at::kLong);
  batch.offsets = at::empty({sequences + 1}, at::kLong);
  batch.loss_rows = at::empty({targets}, at::kLong);
  batch.targets = at::empty({targets}, at::kLong);
  batch.target_offsets = at::empty({sequences + 1}, at::kLong);
  auto* token = batch.tokens.data_ptr<int64_t>();
  auto* position = batch.positions.data_ptr<int64_t>();
  auto* offset = batch.offsets.data_ptr<int64_t>();
  auto* loss_row = batch.loss_rows.data_ptr<int64_t>();
  auto* target = batch.targets.data_ptr<int64_t>();
  auto* target_offset = batch.target_offsets.data_ptr<int64_t>();
  int64_t row = 0;
  int64_t predicted = 0;
  *offset++ = 0;
  *target_offset++ = 0;
  for (size_t i = 0; i < examples.size(); ++i) {
    const TokenView sequence = set.sequence(examples[i]);
    const int64_t prompt = set.prompt_tokens[static_cast<size_t>(examples[i])];
    LENGTHWISE_CHECK(prompt > 0, "example {} has no prompt to predict its target from", examples[i]);
    const int64_t inputs = static_cast<int64_t>(sequence.size()) - 1;
    const int64_t start = starts.empty() ? 0 : starts[i];
    for (int64_t t = 0; t < inputs; ++t, ++row) {
      token[row] = sequence[static_cast<size_t>(t)];
      position[row] = start + t;
      if (t + 1 < prompt) continue;
      loss_row[predicted] = row;
      target[predicted++] = sequence[static_cast<size_t>(t + 1)];
    }
    *offset++ = row;
    *target_offset++ = predicted;
    batch.longest = std::max(batch.longest, inputs);
  }
  if (by.placing != nullptr) place_tokens(set, examples, by, batch);
  return batch;
}

EpochOrder::EpochOrder(int64_t examples, int64_t batch_size, uint64_t seed)
    : count_(examples), batch_size_(batch_size), rng_(Rng(seed).stream("order")) {
  LENGTHWISE_CHECK(examples > 0 && batch_size > 0, "{} examples in batches of {}", examples, batch_size);
}

void EpochOrder::load(int64_t epoch) {
  epoch_ = epoch;
  order_.resize(static_cast<size_t>(count_));
  std::iota(order_.begin(), order_.end(), int64_t{0});
  Rng rng = rng_.at(static_cast<uint64_t>(epoch));
  rng.shuffle(std::span(order_));
}

const std::vector<int64_t>& EpochOrder::epoch(int64_t epoch) {
  if (epoch != epoch_) load(epoch);
  return order_;
}

int64_t EpochOrder::example_at(int64_t place) {
  return epoch(place / count_)[static_cast<size_t>(place % count_)];
}

std::span<const int64_t> EpochOrder::examples_of(int64_t step) {
  batch_.clear();
  for (int64_t i = 0; i < batch_size_; ++i) batch_.push_back(example_at(step * batch_size_ + i));
  return batch_;
}

std::vector<std::vector<int64_t>> cut_by_tokens(const TokenSet& set, std::span<const int64_t> examples,
                                                int64_t token_budget) {
  std::vector<std::vector<int64_t>> runs;
  int64_t used = 0;
  for (const int64_t example : examples) {
    const auto tokens = static_cast<int64_t>(set.sequence(example).size()) - 1;
    if (runs.empty() || used + tokens > token_budget) {
      runs.emplace_back();
      used = 0;
    }
    runs.back().push_back(example);
    used += tokens;
  }
  return runs;
}

}  // namespace lengthwise
