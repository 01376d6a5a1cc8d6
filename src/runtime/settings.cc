#include "runtime/settings.h"

#include <ATen/Context.h>
#include <ATen/Parallel.h>

#include <algorithm>
#include <vector>

#include "core/error.h"
#include "core/text.h"
#include "core/threads.h"
#include "core/version.h"
#include "runtime/machine.h"

namespace lengthwise {

void check_threads(int64_t threads) {
  const int64_t cores = threads_or_cores(0);
  const int64_t most = std::max<int64_t>(64, 8 * cores);
  if (threads < 0 || threads > most) {
    fail("--threads must be between 0 and {}, not {}; this machine has {} core{}", most, threads, cores,
         cores == 1 ? "" : "s");
  }
}

void set_threads(int64_t threads) {
  check_threads(threads);
  // The number of threads belongs to the thread that calls (OpenMP, MKL), but torch overwrites it with the last number
  // set anywhere when a thread first asks. Asking first makes the number below the last word for this thread.
  at::get_num_threads();
  at::set_num_threads(static_cast<int>(threads_or_cores(threads)));
}

std::string device_here(const std::string& device) {
  if (device == "cpu") return device;
  if (device != "auto" && device != "cuda") {
    fail("--device must be cpu, cuda or auto, not '{}'{}", excerpt(device),
         did_you_mean(device, {"cpu", "cuda", "auto"}));
  }
  if (at::hasCUDA()) return "cuda";
  if (device == "auto") return "cpu";
  if (std::string_view(kCudaVersion).empty()) {
    fail("--device cuda needs a build with CUDA (`cmake --preset cuda`); this one has the CPU alone");
  }
  fail("--device cuda: no GPU was found here; `lengthwise doctor` shows what there is");
}

std::string precision_here(const std::string& precision, const std::string& device) {
  const std::vector<std::string> known{"", "fp32", "bf16", "tf32", "auto"};
  if (std::find(known.begin(), known.end(), precision) == known.end()) {
    fail("--precision must be fp32, bf16, tf32 or auto, not '{}'", precision);
  }
  if (device == "cuda") return precision.empty() || precision == "auto" ? "bf16" : precision;
  if (precision.empty()) return "fp32";
  if (precision == "tf32") fail("--precision tf32 is for GPUs; on the CPU there are fp32 and bf16");
  if (precision != "auto" && precision != "bf16") return precision;
  const CpuInfo cpu = describe_machine(".").cpu;
  if (!cpu.bf16.empty()) return "bf16";
  if (precision == "auto") return "fp32";
  fail("--precision bf16 needs a CPU with bfloat16 instructions; this one ({}) has none", cpu.model);
}

}  // namespace lengthwise
