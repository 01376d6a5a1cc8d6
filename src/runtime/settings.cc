#include "runtime/settings.h"

#include <ATen/Parallel.h>

#include <thread>

#include "core/error.h"
#include "runtime/machine.h"

namespace lengthwise {

void set_threads(int64_t threads) {
  const int64_t wanted = threads > 0 ? threads : std::max<int64_t>(1, std::thread::hardware_concurrency());
  // The number of threads belongs to the thread that calls (OpenMP, MKL), but torch overwrites it with the last number
  // set anywhere when a thread first asks. Asking first makes the number below the last word for this thread.
  at::get_num_threads();
  at::set_num_threads(static_cast<int>(wanted));
}

std::string precision_here(const std::string& precision) {
  if (precision != "auto" && precision != "bf16") return precision;
  const CpuInfo cpu = describe_machine(".").cpu;
  if (!cpu.bf16.empty()) return "bf16";
  if (precision == "auto") return "fp32";
  fail("--precision bf16 needs a CPU with bfloat16 instructions; this one ({}) has none", cpu.model);
}

}  // namespace lengthwise
