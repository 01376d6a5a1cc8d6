#pragma once
/// Turns at the GPU (core/device_gate.h), held and left by scope.
#include <optional>
#include <utility>

#include "core/device_gate.h"

namespace lengthwise {

/// Owns something whose making and end concern the whole device (handles of libraries, streams, graphs): both happen in
/// a turn of their own, so that they meet nobody's capture, also when an exception ends it.
template <class T>
class Gated {
 public:
  template <class... Arguments>
  explicit Gated(Arguments&&... arguments) {
    const std::shared_lock turn(device_gate());
    value_.emplace(std::forward<Arguments>(arguments)...);
  }
  ~Gated() {
    const std::shared_lock turn(device_gate());
    value_.reset();
  }
  Gated(const Gated&) = delete;
  Gated& operator=(const Gated&) = delete;

  T& operator*() { return *value_; }
  T* operator->() { return &*value_; }
  const T* operator->() const { return &*value_; }

 private:
  std::optional<T> value_;
};

/// Leaves a turn for as long as this lives.
class TurnLeft {
 public:
  explicit TurnLeft(DeviceTurn& turn) : turn_(turn) { turn_.unlock(); }
  ~TurnLeft() { turn_.lock(); }
  TurnLeft(const TurnLeft&) = delete;
  TurnLeft& operator=(const TurnLeft&) = delete;

 private:
  DeviceTurn& turn_;
};

}  // namespace lengthwise
