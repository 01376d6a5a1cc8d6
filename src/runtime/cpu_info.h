#pragma once
/// What /proc/cpuinfo says about the processor.
#include <string>
#include <string_view>
#include <vector>

namespace lengthwise {

struct CpuInfo {
  std::string model;               ///< "Intel(R) Xeon(R) Processor", "Neoverse-V1"; "unknown" where it is not said
  std::vector<std::string> flags;  ///< instruction set extensions under the kernel's names
  std::vector<std::string> bf16;   ///< those of them that compute in bfloat16; empty: --precision bf16 is refused
};

/// Reads the text of /proc/cpuinfo of an x86-64 or an AArch64 kernel; the first processor stands for all.
CpuInfo parse_cpu_info(std::string_view text);

}  // namespace lengthwise
