#pragma once
/// Keeps autograd's backward pass in the calling thread: what it launches can then be captured, and threads that share
/// a GPU do not wait for the one that torch keeps for it.
#include <c10/core/AutogradState.h>

namespace lengthwise {

class OneThread {
 public:
  OneThread() : before_(c10::AutogradState::get_tls_state().get_multithreading_enabled()) {
    c10::AutogradState::get_tls_state().set_multithreading_enabled(false);
  }
  ~OneThread() { c10::AutogradState::get_tls_state().set_multithreading_enabled(before_); }
  OneThread(const OneThread&) = delete;
  OneThread& operator=(const OneThread&) = delete;

 private:
  bool before_;
};

}  // namespace lengthwise
