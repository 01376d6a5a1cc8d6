#include "train/folder_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "core/error.h"

namespace lengthwise {
namespace {

namespace fs = std::filesystem;

/// A folder may have been moved away, and another one made in its place, while we waited for its lock.
bool still_there(int descriptor, const fs::path& path) {
  struct stat held {};
  struct stat named {};
  return ::fstat(descriptor, &held) == 0 && ::stat(path.c_str(), &named) == 0 && held.st_ino == named.st_ino &&
         held.st_dev == named.st_dev;
}

}  // namespace

std::optional<FolderLock> FolderLock::lock(const fs::path& folder, int operation) {
  const fs::path path = folder / ".lock";
  while (true) {
    const int descriptor = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (descriptor < 0) fail("cannot write in {}: {}", folder.string(), std::strerror(errno));
    FolderLock held(descriptor);
    int status = 0;
    do {
      status = ::flock(descriptor, operation);
    } while (status != 0 && errno == EINTR);
    if (status != 0 && errno == EWOULDBLOCK) return std::nullopt;
    if (status != 0) fail("cannot lock {}: {}", path.string(), std::strerror(errno));
    if (still_there(descriptor, path)) return held;
  }
}

std::optional<FolderLock> FolderLock::try_lock(const fs::path& folder) {
  return lock(folder, LOCK_EX | LOCK_NB);
}

FolderLock FolderLock::wait(const fs::path& folder) {
  return *lock(folder, LOCK_EX);
}

bool FolderLock::is_held(const fs::path& folder) {
  const int descriptor = ::open((folder / ".lock").c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return false;
  const FolderLock probe(descriptor);
  // Shared, so that two who look at the same time do not see each other.
  return ::flock(descriptor, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
}

FolderLock::FolderLock(FolderLock&& other) noexcept : descriptor_(other.descriptor_) {
  other.descriptor_ = -1;
}

FolderLock::~FolderLock() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

}  // namespace lengthwise
