#include "runtime/machine.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace lengthwise {
namespace {

using Strings = std::vector<std::string>;

TEST(CpuInfo, ReadsX86) {
  const CpuInfo info = parse_cpu_info(
      "processor\t: 0\n"
      "vendor_id\t: GenuineIntel\n"
      "model name\t: Some Processor @ 2.00GHz\n"
      "flags\t\t: fpu avx2 avx512f avx512_bf16 amx_bf16 amx_tile\n"
      "\n"
      "processor\t: 1\n"
      "model name\t: Another Processor\n"
      "flags\t\t: fpu\n");
  EXPECT_EQ(info.model, "Some Processor @ 2.00GHz");
  EXPECT_EQ(info.flags.size(), 6u);
  EXPECT_EQ(info.bf16, (Strings{"avx512_bf16", "amx_bf16"}));
}

TEST(CpuInfo, ReadsArm) {
  const char* const text =
      "processor\t: 0\n"
      "BogoMIPS\t: 2100.00\n"
      "Features\t: fp asimd sve bf16 i8mm\n"
      "CPU implementer\t: 0x41\n"
      "CPU part\t: 0xd40\n";
  const CpuInfo info = parse_cpu_info(text);
  EXPECT_EQ(info.model, "Neoverse-V1");
  EXPECT_EQ(info.bf16, Strings{"bf16"});
  EXPECT_EQ(parse_cpu_info("CPU implementer : 0xc0\nCPU part : 0xac3").model, "implementer 0xc0, part 0xac3");
}

TEST(CpuInfo, HasNoBf16WithoutTheFlag) {
  EXPECT_TRUE(parse_cpu_info("model name : Old\nflags : avx2 not_bf16 bf16x\n").bf16.empty());
}

TEST(CpuInfo, SurvivesAnything) {
  EXPECT_EQ(parse_cpu_info("").model, "unknown");
  EXPECT_EQ(parse_cpu_info("no colon\n:\n::\n").model, "unknown");
}

TEST(Machine, KnowsItself) {
  const Machine machine = describe_machine(".");
  EXPECT_FALSE(machine.version.empty());
  EXPECT_EQ(machine.torch.substr(0, 2), "2.");
  EXPECT_FALSE(machine.compiler.empty());
  EXPECT_FALSE(machine.architecture.empty());
  EXPECT_GE(machine.hardware_threads, 1);
  EXPECT_GE(machine.torch_threads, 1);
  EXPECT_GT(machine.memory_bytes, uint64_t{1} << 26);
  EXPECT_LE(machine.free_memory_bytes, machine.memory_bytes);
  EXPECT_GT(machine.free_disk_bytes, 0u);
  EXPECT_EQ(machine.cuda.empty() ? machine.gpus.size() : 0u, 0u) << "a GPU in a build that knows none";
}

TEST(Machine, AFolderThatIsNotThereHasTheSpaceOfWhereItWouldBe) {
  EXPECT_GT(describe_machine("/no/such/folder").free_disk_bytes, 0u);
}

TEST(Machine, FusedKernelsHaveDistinctNames) {
  Strings names = fused_kernels();
  std::sort(names.begin(), names.end());
  EXPECT_EQ(std::adjacent_find(names.begin(), names.end()), names.end());
}

}  // namespace
}  // namespace lengthwise
