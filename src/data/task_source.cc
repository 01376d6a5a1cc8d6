#include "data/task_source.h"

#include <algorithm>
#include <numeric>

#include "core/error.h"

namespace lengthwise {
namespace {

int64_t total(const std::vector<Bin>& bins) {
  return std::accumulate(bins.begin(), bins.end(), int64_t{0},
                         [](int64_t sum, const Bin& bin) { return sum + bin.count; });
}

/// A plan of `count` examples, or of as many more as it takes to have `needed` (by default one in each bin) in spite of
/// rounding down. A task with fewer examples than that in all gives what it has.
std::vector<Bin> plan_for(const Task& task, LengthRange lengths, int64_t count, std::optional<int64_t> at_least,
                          Split split) {
  std::vector<Bin> bins = task.plan(lengths, count, split);
  const int64_t needed = at_least.value_or(std::min(count, static_cast<int64_t>(bins.size())));
  int64_t step = std::max<int64_t>(1, static_cast<int64_t>(bins.size()));
  for (int attempt = 0; attempt < 10 && total(bins) < needed; ++attempt, step *= 2) {
    bins = task.plan(lengths, std::max(count, needed) + step, split);
  }
  return bins;
}

/// The size of the study's pool: it took floor(1.15 * n) in floating point, where 1.15 is a little less than 1.15.
int64_t pool_size(int64_t train_count) {
  return std::max(train_count, (115 * train_count - 1) / 100);
}

int64_t wanted_validation(const ResolvedData& data) {
  return data.validation_count.value_or(pool_size(*data.train_count) - *data.train_count);
}

/// How many examples of a pool of that size are for training.
int64_t cut_for_training(const ResolvedData& data, int64_t pool) {
  const int64_t all = std::min(*data.train_count, pool);
  const int64_t tenth = pool < 2 ? 0 : std::max<int64_t>(1, pool / 10);
  const int64_t kept = std::min(wanted_validation(data), tenth);
  if (data.version == 1 || all <= pool - kept) return all;
  // Rounding makes pools small, too; but then there are more problems where these came from.
  const bool is_everything = total(data.task->plan(*data.train_lengths, 4 * (pool + 1), Split::train)) <= pool;
  return is_everything ? pool - kept : all;
}

/// How many examples the pool is planned with, and how many of them it must have if it can.
std::pair<int64_t, int64_t> pool_counts(const ResolvedData& data) {
  const int64_t asked = *data.train_count + data.validation_count.value_or(0);
  return {data.validation_count ? asked : pool_size(*data.train_count), asked};
}

std::vector<uint32_t> shuffled(int64_t size, Rng rng) {
  LENGTHWISE_CHECK(size <= UINT32_MAX, "{} examples in one pool", size);
  std::vector<uint32_t> order(static_cast<size_t>(size));
  std::iota(order.begin(), order.end(), 0u);
  rng.shuffle(std::span(order));
  return order;
}

}  // namespace

TaskSource::Plan::Plan(const Task& task, LengthRange lengths, int64_t count, std::optional<int64_t> at_least,
                       Split planned, Rng rng)
    : split(planned), bins(plan_for(task, lengths, count, at_least, planned)) {
  std::erase_if(bins, [](const Bin& bin) { return bin.count <= 0; });
  begin.reserve(bins.size() + 1);
  begin.push_back(0);
  streams.reserve(bins.size());
  for (const Bin& bin : bins) {
    begin.push_back(begin.back() + bin.count);
    streams.push_back(rng.stream(fmt::format("{}-{}-{}", bin.length, bin.first, bin.second)));
  }
}

TaskSource::TaskSource(const ResolvedData& data)
    : task_(*data.task),
      style_(data.style),
      version_(data.version),
      pool_(task_, *data.train_lengths, pool_counts(data).first, pool_counts(data).second, Split::train,
            Rng(data.seed).stream("train")),
      test_(task_, *data.test_lengths, *data.test_count, std::nullopt, Split::test, Rng(data.seed).stream("test")) {
  pool_order_ = shuffled(pool_.size(), Rng(data.seed).stream("pool order"));
  train_count_ = cut_for_training(data, pool_.size());
  validation_count_ = std::min(pool_.size() - train_count_, wanted_validation(data));
  test_count_ = std::min(*data.test_count, test_.size());
  if (test_count_ < test_.size()) {
    test_order_ = shuffled(test_.size(), Rng(data.seed).stream("test choice"));
    test_order_.resize(static_cast<size_t>(test_count_));
    std::sort(test_order_.begin(), test_order_.end());
  }
}

int64_t TaskSource::count(Split split) const {
  return split == Split::train ? train_count_ : split == Split::validation ? validation_count_ : test_count_;
}

void TaskSource::get(Split split, int64_t index, Example& out) const {
  LENGTHWISE_CHECK(index >= 0 && index < count(split), "example {} of {}", index, count(split));
  if (split == Split::test) {
    generate(test_, test_order_.empty() ? index : test_order_[static_cast<size_t>(index)], out);
  } else {
    const int64_t place = split == Split::train ? index : train_count_ + index;
    generate(pool_, pool_order_[static_cast<size_t>(place)], out);
  }
}

std::optional<int64_t> version_to_save(const ResolvedData& data) {
  if (data.version == 1 || data.task == nullptr || !data.corpus.empty()) return std::nullopt;
  if (data.task->info().data_version > 1) return data.version;
  // Versions of such a task differ, if at all, in where the pool is cut.
  ResolvedData first = data;
  first.version = 1;
  const auto [count, at_least] = pool_counts(data);
  const int64_t pool = total(plan_for(*data.task, *data.train_lengths, count, at_least, Split::train));
  return cut_for_training(data, pool) == cut_for_training(first, pool) ? std::nullopt : std::optional(data.version);
}

void TaskSource::generate(const Plan& plan, int64_t position, Example& out) const {
  const auto after = std::upper_bound(plan.begin.begin(), plan.begin.end(), position);
  const auto bin = static_cast<size_t>(after - plan.begin.begin()) - 1;
  task_.generate({plan.bins[bin], position - plan.begin[bin], plan.split, plan.streams[bin], version_}, style_, out);
}

}  // namespace lengthwise
