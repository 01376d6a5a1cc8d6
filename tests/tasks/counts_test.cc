// How many examples of which lengths the study's data have.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "core/error.h"
#include "tasks/registry.h"

namespace lengthwise {
namespace {

/// 115,000 examples, but computed as 100,000 * 1.15 in floating point, which comes out just below.
constexpr int64_t kPool = 114'999;

int64_t total(const std::vector<Bin>& bins) {
  return std::accumulate(bins.begin(), bins.end(), int64_t{0},
                         [](int64_t sum, const Bin& bin) { return sum + bin.count; });
}

std::map<int64_t, int64_t> per_length(const std::vector<Bin>& bins) {
  std::map<int64_t, int64_t> counts;
  for (const Bin& bin : bins) counts[bin.length] += bin.count;
  return counts;
}

struct Row {
  const char* task;
  LengthRange train;
  int64_t validation;
  LengthRange test;
  int64_t test_count;
};

const std::vector<Row>& rows() {
  static const std::vector<Row> rows{
      {"copy", {2, 20}, 14'988, {21, 40}, 10'000},
      {"copy-rsc", {2, 20}, 14'988, {21, 40}, 10'000},
      {"copy-rsc2x", {2, 20}, 14'988, {21, 40}, 10'000},
      {"copy-rdc", {2, 20}, 14'114, {21, 40}, 10'000},
      {"copy-cmc2x", {2, 20}, 14'988, {21, 40}, 10'000},
      {"reverse", {2, 20}, 14'988, {21, 40}, 10'000},
      {"reverse-mc2x", {2, 20}, 14'988, {21, 40}, 10'000},
      {"reverse-mcrv", {2, 20}, 14'988, {21, 40}, 10'000},
      {"addition", {1, 8}, 14'944, {9, 16}, 9'984},
      {"polynomial", {1, 8}, 14'992, {9, 16}, 10'000},
      {"sort", {2, 8}, 14'996, {9, 16}, 10'000},
      {"sort-multi", {2, 8}, 14'996, {9, 16}, 10'000},
      {"summation", {2, 8}, 14'996, {9, 16}, 10'000},
      {"parity", {3, 8}, 14'996, {9, 16}, 10'000},
      {"lego", {4, 8}, 14'988, {9, 16}, 9'984},
  };
  return rows;
}

TEST(Counts, AreThoseOfTheStudy) {
  for (const Row& row : rows()) {
    const Task& task = find_task(row.task);
    const TaskInfo& info = task.info();
    SCOPED_TRACE(row.task);
    EXPECT_EQ(info.train, row.train);
    EXPECT_EQ(info.test, row.test);
    EXPECT_EQ(info.train_count, 100'000);
    EXPECT_EQ(total(task.plan(info.train, kPool, Split::train)) - info.train_count, row.validation);
    EXPECT_EQ(total(task.plan(info.test, info.test_count, Split::test)), row.test_count);
  }
}

TEST(Counts, CoverEveryLengthOfTheRangeAndNoOther) {
  for (const Row& row : rows()) {
    const Task& task = find_task(row.task);
    SCOPED_TRACE(row.task);
    const auto counts = per_length(task.plan(row.train, kPool, Split::train));
    EXPECT_EQ(static_cast<int64_t>(counts.size()), row.train.size());
    EXPECT_EQ(counts.begin()->first, row.train.low);
    EXPECT_EQ(counts.rbegin()->first, row.train.high);
    for (const auto& [length, count] : counts) EXPECT_GT(count, 0) << length;
  }
}

TEST(Counts, PerLength) {
  EXPECT_EQ(per_length(find_task("copy-rsc").plan({2, 20}, kPool, Split::train)).at(7), 6052);
  EXPECT_EQ(per_length(find_task("copy-rdc").plan({2, 20}, kPool, Split::train)).at(7), 6006);
  EXPECT_EQ(per_length(find_task("copy").plan({21, 40}, 10'000, Split::test)).at(33), 500);
  EXPECT_EQ(per_length(find_task("sort").plan({9, 16}, 10'000, Split::test)).at(12), 1250);
  const std::map<int64_t, int64_t> lego{{9, 1248},  {10, 1250}, {11, 1250}, {12, 1248},
                                        {13, 1248}, {14, 1246}, {15, 1246}, {16, 1248}};
  EXPECT_EQ(per_length(find_task("lego").plan({9, 16}, 10'000, Split::test)), lego);
}

TEST(Counts, AdditionHasABinPerPairOfDigitCounts) {
  const auto train = find_task("addition").plan({1, 8}, kPool, Split::train);
  EXPECT_EQ(train.size(), 64u);
  const auto test = find_task("addition").plan({9, 16}, 10'000, Split::test);
  EXPECT_EQ(test.size(), 192u);
  for (const Bin& bin : test) {
    EXPECT_EQ(bin.count, 52);
    EXPECT_EQ(bin.length, std::max(bin.first, bin.second));
    EXPECT_GE(bin.length, 9);
  }
}

TEST(Counts, RefuseLengthsThatDoNotExist) {
  EXPECT_THROW(find_task("lego").plan({4, 27}, 100, Split::train), UserError);
  EXPECT_THROW(find_task("lego").plan({1, 8}, 100, Split::train), UserError);
  EXPECT_THROW(find_task("addition").plan({1, 1'000'000}, 100, Split::train), UserError);
}

TEST(Registry, HasThePapersTasksInItsOrder) {
  std::vector<std::string> names, listed;
  for (const Row& row : rows()) names.push_back(row.task);
  names.insert(names.end(), {"scan", "pcfg"});
  for (const auto& task : tasks()) {
    if (!task->info().paper.empty()) listed.push_back(task->info().name);
  }
  EXPECT_EQ(listed, names);
}

TEST(Registry, NoTaskHasTheEmptyName) {
  EXPECT_THROW(find_task(""), UserError);
}

}  // namespace
}  // namespace lengthwise
