#pragma once
/// Facts about this build and this machine: the body of `lengthwise doctor`.
#include <string>
#include <vector>

namespace lengthwise {

struct Fact {
  std::string name;
  std::string value;
};

/// Versions, device, threads, precisions and which fused kernels this build has.
std::vector<Fact> machine_facts();

}  // namespace lengthwise
