#pragma once
/// Drawing single examples of a task for a test.
#include "tasks/registry.h"

namespace lengthwise {

/// The random numbers of a bin.
inline Rng bin_rng(const Task& task, const Bin& bin, Split split) {
  return Rng(9842497).stream(
      fmt::format("{}/{}/{}/{}/{}", task.info().name, to_text(split), bin.length, bin.first, bin.second));
}

inline Example generate(const Task& task, const Bin& bin, int64_t index, Split split, const Style& style = {}) {
  Example example;
  task.generate({.bin = bin, .index = index, .split = split, .rng = bin_rng(task, bin, split)}, style, example);
  return example;
}

/// Random examples of a task's default training or test lengths.
class Sampler {
 public:
  Sampler(const Task& task, Split split)
      : task_(task),
        split_(split),
        bins_(split == Split::test ? task.plan(task.info().test, task.info().test_count, split)
                                   : task.plan(task.info().train, 114'999, split)),
        rng_(Rng(1).stream(task.info().name)) {}

  Draw next() {
    const Bin* bin = nullptr;
    do {
      bin = &bins_[rng_.below(bins_.size())];
    } while (bin->count == 0);
    const auto index = static_cast<int64_t>(rng_.below(static_cast<uint64_t>(bin->count)));
    return {.bin = *bin, .index = index, .split = split_, .rng = bin_rng(task_, *bin, split_)};
  }

 private:
  const Task& task_;
  const Split split_;
  const std::vector<Bin> bins_;
  Rng rng_;
};

}  // namespace lengthwise
