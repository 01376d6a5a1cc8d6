#include "core/aside_name.h"

#include <unistd.h>

#include <charconv>
#include <string>
#include <string_view>

namespace lengthwise {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kEnd = ".part";

}  // namespace

fs::path aside_of(const fs::path& path) {
  return path.native() + "." + std::to_string(::getpid()) + std::string(kEnd);
}

std::optional<pid_t> writer_of(const fs::path& entry, const fs::path& path) {
  const std::string name = entry.filename().native();
  const std::string begin = path.filename().native() + ".";
  if (!name.starts_with(begin) || !name.ends_with(kEnd) || name.size() < begin.size() + kEnd.size())
    return std::nullopt;
  pid_t process = 0;
  const char* const last = name.data() + name.size() - kEnd.size();
  const auto [at, error] = std::from_chars(name.data() + begin.size(), last, process);
  if (error != std::errc() || at != last || process <= 0) return std::nullopt;
  return process;
}

}  // namespace lengthwise
