#include "runtime/machine.h"

#include <ATen/Parallel.h>
#include <sys/utsname.h>
#include <unistd.h>
#ifdef LENGTHWISE_CUDA
#include <ATen/cuda/CUDAContext.h>
#endif

#include <sstream>
#include <thread>

#include "core/files.h"
#include "core/version.h"

namespace lengthwise {
namespace {

std::string read_kernel_file(const char* path) {
  return is_file(path) ? read_file(path) : "";
}

std::string architecture() {
  utsname name{};
  return uname(&name) == 0 ? name.machine : "unknown";
}

/// A line such as `MemAvailable:   1234 kB` of /proc/meminfo.
uint64_t memory_line(const std::string& text, const std::string& key) {
  std::istringstream lines(text);
  std::string name;
  uint64_t kilobytes = 0;
  std::string unit;
  while (lines >> name >> kilobytes) {
    if (name == key + ":") return kilobytes * 1024;
    std::getline(lines, unit);
  }
  return 0;
}

std::vector<Gpu> gpus() {
  std::vector<Gpu> list;
#ifdef LENGTHWISE_CUDA
  for (int device = 0; device < at::cuda::device_count(); ++device) {
    const cudaDeviceProp& properties = *at::cuda::getDeviceProperties(static_cast<c10::DeviceIndex>(device));
    list.push_back({properties.name, std::to_string(properties.major) + "." + std::to_string(properties.minor),
                    properties.totalGlobalMem});
  }
#endif
  return list;
}

}  // namespace

Machine describe_machine(const std::filesystem::path& folder) {
  Machine machine;
  machine.version = kVersion;
  machine.torch = kTorchVersion;
  machine.compiler = kCompiler;
  machine.build_type = kBuildType;
  machine.cuda = kCudaVersion;
  machine.cpu = parse_cpu_info(read_kernel_file("/proc/cpuinfo"));
  machine.architecture = architecture();
  machine.gpus = gpus();
  machine.hardware_threads = static_cast<int64_t>(std::thread::hardware_concurrency());
  machine.torch_threads = at::get_num_threads();
  const std::string memory = read_kernel_file("/proc/meminfo");
  machine.memory_bytes = memory_line(memory, "MemTotal");
  machine.free_memory_bytes = memory_line(memory, "MemAvailable");
  machine.free_disk_bytes = free_bytes(folder).value_or(0);
  return machine;
}

std::vector<std::string> fused_kernels() {
  // Those of kernels/, which lies above this folder and so cannot be asked.
  return {"attention", "add_norm", "dropout", "relu_dropout", "embed", "cross_entropy", "adamw"};
}

std::vector<std::string> fused_gpu_kernels() {
#ifdef LENGTHWISE_CUDA
  return {"assemble_batch",
          "attention",
          "cached_attention",
          "add_norm",
          "relu_dropout",
#ifdef LENGTHWISE_CUTLASS
          "rectified_product",
#endif
          "embed",
          "gather_rows",
          "cross_entropy",
          "adamw"};
#else
  return {};
#endif
}

}  // namespace lengthwise
