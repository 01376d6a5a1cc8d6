// Turns at the gate of a GPU; a mutex needs none.
#include "core/device_gate.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <thread>

#include "gpu/gated.h"

namespace lengthwise {
namespace {

/// Whether another thread could capture now.
bool is_open() {
  bool open = false;
  std::thread([&] {
    open = device_gate().try_lock();
    if (open) device_gate().unlock();
  }).join();
  return open;
}

struct Witness {
  Witness(bool& end, bool fails) : open_at_end(end) {
    EXPECT_FALSE(is_open());
    if (fails) throw std::runtime_error("no");
  }
  ~Witness() { open_at_end = is_open(); }
  bool& open_at_end;
};

TEST(DeviceGate, IsHeldWhileSomethingGatedIsMadeAndEnded) {
  bool open_at_end = true;
  {
    const Gated<Witness> witness(open_at_end, false);
    EXPECT_TRUE(is_open());
  }
  EXPECT_FALSE(open_at_end);
  EXPECT_TRUE(is_open());
}

TEST(DeviceGate, IsOpenAgainAfterAnException) {
  bool unused = false;
  EXPECT_THROW(Gated<Witness>(unused, true), std::runtime_error);
  EXPECT_TRUE(is_open());
}

TEST(DeviceGate, ATurnThatIsLeftIsTakenAgainInAnyCase) {
  std::shared_lock turn(device_gate());
  try {
    const TurnLeft left(turn);
    EXPECT_TRUE(is_open());
    throw std::runtime_error("no");
  } catch (const std::runtime_error&) {
    EXPECT_TRUE(turn.owns_lock());
    EXPECT_FALSE(is_open());
  }
}

}  // namespace
}  // namespace lengthwise
