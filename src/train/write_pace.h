#pragma once
/// How often something is written that takes a while: so seldom that writing takes a tenth of the time at most.
#include <chrono>

namespace lengthwise {

class WritePace {
 public:
  using Clock = std::chrono::steady_clock;

  /// Whether it may be written now. What was written within a quarter of a second may be at any time.
  bool allows(Clock::time_point now) const {
    return took_ < std::chrono::milliseconds(250) || now - ended_ >= 9 * took_;
  }

  void wrote(Clock::time_point began, Clock::time_point ended) {
    took_ = ended - began;
    ended_ = ended;
  }

 private:
  Clock::duration took_{};
  Clock::time_point ended_;
};

}  // namespace lengthwise
