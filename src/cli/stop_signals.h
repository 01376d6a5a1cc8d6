#pragma once
/// Ctrl-C and SIGTERM as a wish to stop: the work saves where it is and ends. A second one ends the program at once.
#include "core/progress.h"

namespace lengthwise {

/// From now on the signals are noted instead of ending the program.
void catch_stop_signals();

/// The signal that came, or 0.
int stop_signal();

/// What a shell reports of a program that the signal ended: 130 after Ctrl-C, 143 after SIGTERM.
int stop_status();

/// Progress that throws Interrupted at its next update once a signal came.
class StoppableProgress : public Progress {
 public:
  using Progress::Progress;

  void update(int64_t done, int64_t total, const std::string& text) override;

  int64_t done() const { return done_; }  ///< as of the last update

 private:
  int64_t done_ = 0;
};

}  // namespace lengthwise
