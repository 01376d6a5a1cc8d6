#pragma once
/// What generation in steps of one shape has in common, whatever makes the steps: it is captured and replayed, the host
/// looks only now and then whether all sequences have ended, and answers are read at the end.
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <vector>

#include "data/vocabulary.h"

namespace lengthwise {

/// Records what `body` launches, which has run once before, and gives a function that launches it again, on the same
/// tensors: on a GPU a captured graph's replay.
using Capture = std::function<std::function<void()>(const std::function<void()>& body)>;

/// How steps reach a device.
struct Feeding {
  Capture capture;
  std::function<void()> wait = [] {};  ///< until the device has done all that it was given
};

/// A few kinds of steps, each told by a number.
class Replays {
 public:
  explicit Replays(Capture capture) : capture_(std::move(capture)) {}

  /// Runs the body the first time, captures it the second, and replays it from then on.
  void run(int64_t kind, const std::function<void()>& body);

 private:
  Capture capture_;
  std::map<int64_t, std::function<void()>> replays_;  ///< empty: has run once
};

/// Calls step(n), n = 1, 2, ..., after the first token of every answer is there: as often as the shortest prompt has
/// places up to `limit`, or until none is alive.
void make_steps(std::span<const std::vector<int32_t>> prompts, int64_t limit, const std::function<bool()>& any_alive,
                const std::function<void(int64_t)>& step);

/// Appends to the answers what stands in `made` [prompt, width] from the prompt's end to the end marker or the limit.
template <class Token>
void append_answers(std::span<const std::vector<int32_t>> prompts, int64_t limit, std::span<const Token> made,
                    int64_t width, std::span<std::vector<int32_t>> answers) {
  for (size_t b = 0; b < prompts.size(); ++b) {
    const auto row = made.subspan(b * static_cast<size_t>(width), static_cast<size_t>(limit));
    for (size_t at = prompts[b].size(); at < row.size() && row[at] != Vocabulary::kEos; ++at) {
      answers[b].push_back(static_cast<int32_t>(row[at]));
    }
  }
}

}  // namespace lengthwise
