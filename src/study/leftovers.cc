#include "study/leftovers.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

#include "core/config.h"
#include "core/error.h"

namespace lengthwise {
namespace {

namespace fs = std::filesystem;

bool is_leftover(const fs::path& path) {
  if (path.extension() != ".part") return false;
  const std::string process = path.stem().extension().string();
  int64_t id = 0;
  try {
    from_text(std::string_view(process).substr(process.empty() ? 0 : 1), id);
  } catch (const UserError&) {
    return true;
  }
  return id != ::getpid() && ::kill(static_cast<pid_t>(id), 0) != 0 && errno == ESRCH;
}

}  // namespace

fs::path aside(const fs::path& path) {
  return path.string() + fmt::format(".{}.part", ::getpid());
}

void remove_leftovers(const fs::path& folder, const std::string& start) {
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    if (!entry.path().filename().string().starts_with(start) || !is_leftover(entry.path())) continue;
    // Another process that starts now may be quicker.
    std::error_code gone;
    fs::remove_all(entry.path(), gone);
  }
}

}  // namespace lengthwise
