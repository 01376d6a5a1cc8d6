#include "runtime/settings.h"

#include <ATen/Context.h>
#include <ATen/Parallel.h>

#include <thread>

#include "core/error.h"
#include "runtime/machine.h"

namespace lengthwise {

void apply_settings(int64_t threads, const std::string& precision) {
  const int64_t wanted = threads > 0 ? threads : std::max<int64_t>(1, std::thread::hardware_concurrency());
  // The number of threads belongs to the thread that calls (OpenMP, MKL), but torch overwrites it with the last number
  // set anywhere when a thread first asks. Asking first makes the number below the last word for this thread.
  at::get_num_threads();
  at::set_num_threads(static_cast<int>(wanted));
  const bool bf16 = precision == "bf16";
  if (bf16) {
    const CpuInfo cpu = describe_machine(".").cpu;
    if (cpu.bf16.empty()) {
      fail("--precision bf16 needs a CPU with bfloat16 instructions; this one ({}) has none", cpu.model);
    }
  }
  at::globalContext().setFloat32MatmulPrecision(bf16 ? "medium" : "highest");
}

}  // namespace lengthwise
