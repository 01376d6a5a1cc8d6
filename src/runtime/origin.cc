#include "runtime/origin.h"

#include "runtime/machine.h"

namespace lengthwise {

std::string machine_name(const std::string& device) {
  const Machine machine = describe_machine(".");
  return device == "cuda" && !machine.gpus.empty() ? machine.gpus.front().name : machine.cpu.model;
}

}  // namespace lengthwise
