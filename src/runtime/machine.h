#pragma once
/// Facts about this build and this machine: the body of `lengthwise doctor`.
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "runtime/cpu_info.h"

namespace lengthwise {

struct Gpu {
  std::string name;
  std::string capability;     ///< "9.0"
  uint64_t memory_bytes = 0;  ///< of the card
};

struct Machine {
  // The build.
  std::string version;
  std::string torch;
  std::string compiler;
  std::string build_type;
  std::string cuda;  ///< the CUDA compiler's version; "" in a build for the CPU alone

  // Devices.
  CpuInfo cpu;
  std::string architecture;  ///< "x86_64", "aarch64"
  std::vector<Gpu> gpus;     ///< empty in a build without CUDA

  // How much of everything.
  int64_t hardware_threads = 0;
  int64_t torch_threads = 0;  ///< that one operation of torch is spread over
  uint64_t memory_bytes = 0;
  uint64_t free_memory_bytes = 0;  ///< what a program could still take without swapping
  uint64_t free_disk_bytes = 0;    ///< where `folder` lies
};

/// Asks the build, the kernel and torch. What the machine does not tell is left at 0, "" or "unknown".
Machine describe_machine(const std::filesystem::path& folder);

/// The operations this build has a fused kernel for on the CPU, by name. Every one of them also has a plain
/// implementation.
std::vector<std::string> fused_kernels();

/// The same on a GPU; empty in a build without CUDA.
std::vector<std::string> fused_gpu_kernels();

}  // namespace lengthwise
