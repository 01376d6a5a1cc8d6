#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>

#include "cli/commands.h"
#include "cli/help.h"
#include "cli/options.h"
#include "core/error.h"
#include "core/json.h"
#include "core/text.h"
#include "runtime/machine.h"

namespace lengthwise {
namespace {

struct DoctorConfig {
  bool json = false;

  template <class Visitor>
  void visit(Visitor&& field) {
    field("json", json, "print one JSON object");
  }
};

std::string gibibytes(uint64_t bytes) {
  return fmt::format("{:.1f} GiB", static_cast<double>(bytes) / (1 << 30));
}

std::string bf16_text(const CpuInfo& cpu) {
  return cpu.bf16.empty() ? "bf16 (this CPU has no bf16 instructions: slower than fp32)"
                          : fmt::format("bf16 (CPU instructions: {})", join(cpu.bf16, ", "));
}

void print_text(const Machine& machine) {
  const auto line = [](std::string_view name, std::string_view value) {
    std::cout << fmt::format("{:<14}{}\n", name, value);
  };
  line("lengthwise", machine.version);
  line("torch", machine.torch);
  line("compiler", fmt::format("{}, {}", machine.compiler, machine.build_type));
  line("CUDA", machine.cuda.empty() ? "not built" : machine.cuda);
  line("CPU", fmt::format("{} ({})", machine.cpu.model, machine.architecture));
  for (const Gpu& gpu : machine.gpus) {
    line("GPU", fmt::format("{}, compute capability {}, {}", gpu.name, gpu.capability, gibibytes(gpu.memory_bytes)));
  }
  if (!machine.cuda.empty() && machine.gpus.empty()) line("GPU", "none found");
  line("threads", fmt::format("torch uses {} of {}", machine.torch_threads, machine.hardware_threads));
  line("precisions", "fp32, " + bf16_text(machine.cpu));
  const std::vector<std::string> kernels = fused_kernels();
  line("fused kernels", kernels.empty() ? "none yet" : join(kernels, ", "));

  const std::vector<std::string> gpu_kernels = fused_gpu_kernels();
  line("on a GPU",
       gpu_kernels.empty() ? "no kernels in this build (`cmake --preset cuda` makes one)" : join(gpu_kernels, ", "));
  line("memory", fmt::format("{} free of {}", gibibytes(machine.free_memory_bytes), gibibytes(machine.memory_bytes)));
  line("disk here", gibibytes(machine.free_disk_bytes) + " free");
}

void print_json(const Machine& machine) {
  using nlohmann::ordered_json;
  ordered_json gpus = ordered_json::array();
  for (const Gpu& gpu : machine.gpus) {
    gpus.push_back({{"name", gpu.name}, {"capability", gpu.capability}, {"memory_bytes", gpu.memory_bytes}});
  }
  const ordered_json object{
      {"lengthwise", machine.version},
      {"torch", machine.torch},
      {"compiler", machine.compiler},
      {"build_type", machine.build_type},
      {"cuda", machine.cuda.empty() ? ordered_json() : ordered_json(machine.cuda)},
      {"cpu", machine.cpu.model},
      {"architecture", machine.architecture},
      {"gpus", gpus},
      {"hardware_threads", machine.hardware_threads},
      {"torch_threads", machine.torch_threads},
      {"precisions", {"fp32", "bf16"}},
      {"bf16_instructions", ordered_json(machine.cpu.bf16)},
      {"fused_kernels", ordered_json(fused_kernels())},
      {"fused_gpu_kernels", ordered_json(fused_gpu_kernels())},
      {"memory_bytes", machine.memory_bytes},
      {"free_memory_bytes", machine.free_memory_bytes},
      {"free_disk_bytes", machine.free_disk_bytes},
  };
  std::cout << json_text(object, 2) << '\n';
}

}  // namespace

void add_doctor_command(CLI::App& app) {
  CLI::App& command = add_command(app, "doctor", "say what this build has and what this machine offers");
  auto config = std::make_shared<DoctorConfig>();
  add_options(command, *config);
  command.callback([config] {
    const Machine machine = describe_machine(".");
    config->json ? print_json(machine) : print_text(machine);
  });
}

}  // namespace lengthwise
