#pragma once
/// Where examples come from. Example i of a split can be asked for at any time, in any order and from any thread, so
/// that a whole data set never has to stand in memory as text.
#include <cstdint>
#include <memory>
#include <vector>

#include "data/data_config.h"
#include "tasks/task.h"

namespace lengthwise {

class ExampleSource {
 public:
  virtual ~ExampleSource() = default;

  virtual int64_t count(Split split) const = 0;

  /// Writes example `index` (0..count-1) into `out`, whose memory is reused. Safe to call from several threads.
  virtual void get(Split split, int64_t index, Example& out) const = 0;
};

/// The source of a configuration: a task (task_source.h), or files (stored_source.h) with all of them read and checked.
std::unique_ptr<ExampleSource> make_source(const ResolvedData& data);

/// A source with some examples of validation and test left out.
class SelectedSource : public ExampleSource {
 public:
  SelectedSource(std::unique_ptr<ExampleSource> source, std::vector<int64_t> validation, std::vector<int64_t> test)
      : source_(std::move(source)), validation_(std::move(validation)), test_(std::move(test)) {}

  int64_t count(Split split) const override;
  void get(Split split, int64_t index, Example& out) const override;

 private:
  std::unique_ptr<ExampleSource> source_;
  std::vector<int64_t> validation_;  ///< the examples that stay
  std::vector<int64_t> test_;
};

}  // namespace lengthwise
