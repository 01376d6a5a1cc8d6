#include "cli/stop_signals.h"

#include <atomic>
#include <csignal>

namespace lengthwise {
namespace {

// A handler can reach nothing else.
std::atomic<int> signal_that_came = 0;
static_assert(std::atomic<int>::is_always_lock_free, "a signal handler may set it");

extern "C" void note_stop_signal(int signal) {
  signal_that_came = signal;
}

}  // namespace

void catch_stop_signals() {
  struct sigaction action {};
  action.sa_handler = note_stop_signal;
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

int stop_signal() {
  return signal_that_came;
}

int stop_status() {
  constexpr int kSignalled = 128;
  return kSignalled + stop_signal();
}

void StoppableProgress::update(int64_t done, int64_t total, const std::string& text) {
  done_ = done;
  if (stop_signal() != 0) throw Interrupted();
  Progress::update(done, total, text);
}

}  // namespace lengthwise
