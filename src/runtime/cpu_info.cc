#include "runtime/cpu_info.h"

#include <algorithm>
#include <array>
#include <utility>

#include "core/text.h"

namespace lengthwise {
namespace {

constexpr std::array<std::string_view, 4> kBf16Flags{"avx512_bf16", "amx_bf16", "bf16", "svebf16"};

/// AArch64 kernels give numbers instead of a name (Arm's "Main ID Register": implementer and part).
constexpr std::array<std::pair<std::string_view, std::string_view>, 8> kArmParts{{{"0xd08", "Cortex-A72"},
                                                                                  {"0xd0b", "Cortex-A76"},
                                                                                  {"0xd0c", "Neoverse-N1"},
                                                                                  {"0xd40", "Neoverse-V1"},
                                                                                  {"0xd49", "Neoverse-N2"},
                                                                                  {"0xd4f", "Neoverse-V2"},
                                                                                  {"0xd83", "Neoverse-V3AE"},
                                                                                  {"0xd84", "Neoverse-V3"}}};

std::string arm_name(std::string_view implementer, std::string_view part) {
  if (implementer == "0x41") {
    for (const auto& [number, name] : kArmParts) {
      if (part == number) return std::string(name);
    }
  }
  return "implementer " + std::string(implementer) + ", part " + std::string(part);
}

}  // namespace

CpuInfo parse_cpu_info(std::string_view text) {
  CpuInfo info;
  std::string_view implementer;
  std::string_view part;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const size_t colon = line.find(':');
    if (colon == std::string_view::npos) continue;
    const std::string_view key = trim(line.substr(0, colon));
    const std::string_view value = trim(line.substr(colon + 1));
    if (key == "model name" && info.model.empty()) info.model = value;
    if (key == "CPU implementer" && implementer.empty()) implementer = value;
    if (key == "CPU part" && part.empty()) part = value;
    if ((key == "flags" || key == "Features") && info.flags.empty()) {
      for (const std::string_view flag : split_words(value)) info.flags.emplace_back(flag);
    }
  }
  if (info.model.empty()) info.model = implementer.empty() ? "unknown" : arm_name(implementer, part);
  for (const std::string& flag : info.flags) {
    if (std::find(kBf16Flags.begin(), kBf16Flags.end(), flag) != kBf16Flags.end()) info.bf16.push_back(flag);
  }
  return info;
}

}  // namespace lengthwise
