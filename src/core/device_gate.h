#pragma once
/// Order among threads that share a GPU.
///
/// While one thread captures its launches into a graph, another must not load a kernel for the first time, wait for the
/// whole device (as the end of a library's handle does) or make such a handle: either would fail. Whoever launches
/// piece by piece holds the gate shared, in short turns; whoever captures holds it alone. Replaying a graph, or waiting
/// for a stream of one's own, needs nothing.
#include <mutex>
#include <shared_mutex>

namespace lengthwise {

/// A shared mutex that nobody enters behind one who waits to be alone. With std::shared_mutex, whose readers go first,
/// a dozen threads that take turns leave no moment for a capture. Whoever has a turn must not ask for another.
class DeviceGate {
 public:
  void lock() {
    entrance_.lock();
    gate_.lock();
  }
  bool try_lock() {
    std::unique_lock first(entrance_, std::try_to_lock);
    if (!first || !gate_.try_lock()) return false;
    first.release();
    return true;
  }
  void unlock() {
    gate_.unlock();
    entrance_.unlock();
  }
  void lock_shared() {
    const std::lock_guard behind_others(entrance_);
    gate_.lock_shared();
  }
  void unlock_shared() { gate_.unlock_shared(); }

 private:
  std::mutex entrance_;
  std::shared_mutex gate_;
};

using DeviceTurn = std::shared_lock<DeviceGate>;

DeviceGate& device_gate();

}  // namespace lengthwise
