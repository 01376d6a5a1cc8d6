/// Threads of torch are a matter of the thread that calls.
#include "runtime/settings.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include <barrier>
#include <filesystem>
#include <limits>
#include <thread>

#include "core/error.h"

namespace lengthwise {
namespace {

int64_t threads_of_this_process() {
  int64_t count = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator("/proc/self/task")) ++count;
  return count;
}

/// Helpers of threads that are gone go a moment later.
int64_t threads_at_rest() {
  int64_t count = threads_of_this_process();
  for (int64_t again = 0; again != count;) {
    again = count;
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    count = threads_of_this_process();
  }
  return count;
}

void multiply() {
  const at::Tensor a = at::ones({512, 512});
  for (int i = 0; i < 3; ++i) at::relu(at::matmul(a, a));
}

TEST(Settings, EveryThreadHasANumberOfItsOwn) {
  std::barrier both(2);
  const auto work = [&](int64_t wanted, int64_t& seen) {
    set_threads(wanted);
    // The other thread's number is the last one set when this one first computes.
    both.arrive_and_wait();
    multiply();
    seen = at::get_num_threads();
    both.arrive_and_wait();
  };
  int64_t one = 0;
  int64_t three = 0;
  std::thread first([&] { work(1, one); });
  std::thread second([&] { work(3, three); });
  first.join();
  second.join();
  EXPECT_EQ(one, 1);
  EXPECT_EQ(three, 3);
}

TEST(Settings, TwoJobsOfOneThreadStartNoOthers) {
  // This thread's own number, and the one torch would give to a thread that has none.
  set_threads(4);
  const int64_t before = threads_at_rest();
  std::barrier both(3);
  const auto work = [&] {
    set_threads(1);
    both.arrive_and_wait();
    // Between a job's settings and its first operation, someone sets another number.
    both.arrive_and_wait();
    multiply();
    both.arrive_and_wait();
    both.arrive_and_wait();
  };
  std::thread first(work);
  std::thread second(work);
  both.arrive_and_wait();
  set_threads(4);
  both.arrive_and_wait();
  both.arrive_and_wait();
  EXPECT_EQ(threads_of_this_process(), before + 2);
  both.arrive_and_wait();
  first.join();
  second.join();
}

TEST(Settings, AJobOfThreeThreadsUsesThem) {
  const int64_t before = threads_at_rest();
  int64_t during = 0;
  std::thread([&] {
    set_threads(3);
    multiply();
    during = threads_of_this_process();
  }).join();
  EXPECT_GE(during, before + 3) << "the job itself and two helpers";
}

TEST(Settings, DevicesAreTakenWhereTheyAre) {
  EXPECT_EQ(device_here("cpu"), "cpu");
  EXPECT_EQ(device_here("auto"), at::hasCUDA() ? "cuda" : "cpu");
  if (!at::hasCUDA()) {
    EXPECT_THROW(device_here("cuda"), UserError);
  } else {
    EXPECT_EQ(device_here("cuda"), "cuda");
  }
  try {
    device_here("cud");
    FAIL() << "a device that does not exist";
  } catch (const UserError& error) {
    EXPECT_NE(std::string(error.what()).find("cuda"), std::string::npos) << error.what();
  }
}

TEST(Settings, PrecisionFollowsTheDevice) {
  EXPECT_EQ(precision_here("", "cpu"), "fp32");
  EXPECT_EQ(precision_here("", "cuda"), "bf16");
  EXPECT_EQ(precision_here("auto", "cuda"), "bf16");
  EXPECT_EQ(precision_here("tf32", "cuda"), "tf32");
  EXPECT_EQ(precision_here("fp32", "cuda"), "fp32");
  EXPECT_THROW(precision_here("tf32", "cpu"), UserError);
}

TEST(Settings, MoreThreadsThanAnyMachineCanUseAreRefused) {
  for (const int64_t threads : {int64_t{-1}, int64_t{99'999}, std::numeric_limits<int64_t>::max()}) {
    EXPECT_THROW(set_threads(threads), UserError) << threads;
  }
  check_threads(64);
}

}  // namespace
}  // namespace lengthwise
