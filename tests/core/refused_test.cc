#include "core/refused.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <new>
#include <stdexcept>

#include "core/error.h"

namespace lengthwise {
namespace {

TEST(Refused, KnowsWhatTheMachineDoesNotGive) {
  EXPECT_NE(refused_by_machine(std::bad_alloc()), "");
  EXPECT_NE(refused_by_machine(std::runtime_error("DefaultCPUAllocator: can't allocate memory: you tried")), "");
  EXPECT_NE(refused_by_machine(std::runtime_error("[enforce fail] DefaultCPUAllocator: not enough memory")), "");
  EXPECT_NE(refused_by_machine(std::runtime_error("CUDA out of memory. Tried to allocate 2 GiB\nbacktrace")), "");
  EXPECT_NE(refused_by_machine(std::system_error(EAGAIN, std::generic_category(), "thread")), "");
  EXPECT_NE(refused_by_machine(std::filesystem::filesystem_error("status", "/x\n", std::error_code())), "");
}

TEST(Refused, LeavesBugsToBeBugs) {
  EXPECT_EQ(refused_by_machine(std::logic_error("does not hold")), "");
  EXPECT_EQ(refused_by_machine(std::out_of_range("vector")), "");
}

}  // namespace
}  // namespace lengthwise
