// Turns at the gate of a GPU; a mutex needs none.
#include "core/device_gate.h"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <thread>
#include <vector>

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

// Turns that overlap leave no moment in which nobody has one.
TEST(DeviceGate, NobodyEntersBehindOneWhoWaitsToBeAlone) {
  std::atomic<bool> stop = false;
  std::atomic<int64_t> turns = 0;
  std::vector<std::jthread> sharing;
  for (int thread = 0; thread < 3; ++thread) {
    sharing.emplace_back([&] {
      while (!stop) {
        const DeviceTurn turn(device_gate());
        // Until another one has a turn as well, or all others wait.
        const int64_t before = turns++;
        for (int look = 0; look < 1000 && turns == before + 1; ++look) std::this_thread::yield();
      }
    });
  }
  while (turns < 100) std::this_thread::yield();
  for (int alone = 0; alone < 20; ++alone) {
    const std::unique_lock gate(device_gate());
    const int64_t then = turns;
    for (int look = 0; look < 100; ++look) std::this_thread::yield();
    EXPECT_EQ(turns, then);
  }
  stop = true;
}

}  // namespace
}  // namespace lengthwise
