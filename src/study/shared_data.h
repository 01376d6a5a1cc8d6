#pragma once
/// Data sets that are equal between runs are built once and stay in memory while they are needed.
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "data/data_set.h"

namespace lengthwise {

class SharedData {
 public:
  /// Besides those in use, the `kept` data sets asked for last are kept. Runs with equal data follow each other, so
  /// that as many as there are jobs is enough.
  explicit SharedData(size_t kept) : kept_(kept) {}

  /// The data set of a configuration; whoever asks first builds it, with that many threads, and the others wait.
  std::shared_ptr<const DataSet> get(const DataConfig& config, int threads);

 private:
  struct Slot {
    std::mutex mutex;
    std::weak_ptr<const DataSet> data;
  };

  size_t kept_;
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<Slot>> slots_;
  std::deque<std::shared_ptr<const DataSet>> recent_;
};

}  // namespace lengthwise
