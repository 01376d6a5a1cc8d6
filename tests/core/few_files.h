#pragma once
/// A process that may open few files.
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdlib>

namespace lengthwise {

/// As long as it lives, so many files can be opened beside those that are open already.
class FewFiles {
 public:
  explicit FewFiles(rlim_t more) {
    const int lowest = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (lowest < 0 || ::getrlimit(RLIMIT_NOFILE, &before_) != 0) std::abort();
    ::close(lowest);
    const rlimit few{.rlim_cur = static_cast<rlim_t>(lowest) + more, .rlim_max = before_.rlim_max};
    if (::setrlimit(RLIMIT_NOFILE, &few) != 0) std::abort();
  }
  ~FewFiles() { ::setrlimit(RLIMIT_NOFILE, &before_); }
  FewFiles(const FewFiles&) = delete;
  FewFiles& operator=(const FewFiles&) = delete;

 private:
  rlimit before_{};
};

}  // namespace lengthwise
