#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "core/aside_name.h"
#include "core/error.h"
#include "core/files.h"

namespace lengthwise {
namespace {

namespace fs = std::filesystem;

/// flock that goes on after a signal.
bool lock(int descriptor, int operation) {
  int status = 0;
  do {
    status = ::flock(descriptor, operation);
  } while (status != 0 && errno == EINTR);
  return status == 0;
}

bool put_bytes(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor, bytes.data(), bytes.size());
    if (written < 0) {
      if (errno == EINTR) continue;
      return false;
    }
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return true;
}

/// Opened and locked for as long as it is written: whoever clears up sees that it is not a leftover. A file that was
/// cleared away between the two steps is made again. Without locks (some network drives) there is no such safety.
int open_aside(const fs::path& path) {
  while (true) {
    const int descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (descriptor < 0) return descriptor;
    struct stat found {};
    if (!lock(descriptor, LOCK_EX) || ::fstat(descriptor, &found) != 0 || found.st_nlink > 0) return descriptor;
    ::close(descriptor);
  }
}

/// Unlinks a file that nobody holds: while the lock is held, so that a writer that waits for it will see that its file
/// is gone (open_aside). `unlockable`: also one that cannot be opened or locked at all.
void unlink_free(const fs::path& path, bool unlockable) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
  const bool locked = descriptor >= 0 && lock(descriptor, LOCK_EX | LOCK_NB);
  const bool somebodys = descriptor >= 0 && !locked && errno == EWOULDBLOCK;
  if (locked || (unlockable && !somebodys)) ::unlink(path.c_str());
  if (descriptor >= 0) ::close(descriptor);
}

/// Removes what killed writers of this very file left beside it. The folder may hold anything else, so that what cannot
/// be locked stays.
void clear_leftovers_of(const fs::path& path) {
  const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  DIR* listing = ::opendir(folder.c_str());
  if (listing == nullptr) return;
  while (const dirent* entry = ::readdir(listing)) {
    if (writer_of(entry->d_name, path)) unlink_free(folder / entry->d_name, false);
  }
  ::closedir(listing);
}

}  // namespace

AtomicFile::AtomicFile(fs::path path) : path_(std::move(path)), aside_(aside_of(path_)) {
  struct stat found {};
  if (::stat(path_.c_str(), &found) == 0 && !S_ISREG(found.st_mode)) {
    fail("cannot write {}: {}", shown(path_),
         S_ISDIR(found.st_mode) ? std::strerror(EISDIR) : "it is not an ordinary file");
  }
  descriptor_ = open_aside(aside_);
  if (descriptor_ < 0) fail_write();
}

AtomicFile::~AtomicFile() {
  if (descriptor_ < 0) return;
  ::unlink(aside_.c_str());
  ::close(descriptor_);
}

void AtomicFile::fail_write() const {
  fail("cannot write {}: {}", shown(path_), std::strerror(errno));
}

void AtomicFile::write(std::string_view bytes) {
  constexpr size_t kBufferSize = 1 << 20;
  if (bytes.size() >= kBufferSize) {
    flush();
    put(bytes);
    return;
  }
  buffer_ += bytes;
  if (buffer_.size() >= kBufferSize) flush();
}

void AtomicFile::write_at(int64_t offset, std::string_view bytes) {
  flush();
  while (!bytes.empty()) {
    const ssize_t written = ::pwrite(descriptor_, bytes.data(), bytes.size(), offset);
    if (written < 0) {
      if (errno == EINTR) continue;
      fail_write();
    }
    bytes.remove_prefix(static_cast<size_t>(written));
    offset += written;
  }
}

void AtomicFile::put(std::string_view bytes) {
  if (!put_bytes(descriptor_, bytes)) fail_write();
}

void AtomicFile::flush() {
  put(buffer_);
  buffer_.clear();
}

void AtomicFile::commit() {
  flush();
  if (::fsync(descriptor_) != 0) fail_write();
  // Renamed while it is locked, so that nobody takes it for a leftover in between; a failure leaves it to the
  // destructor.
  if (::rename(aside_.c_str(), path_.c_str()) != 0) fail_write();
  ::close(descriptor_);
  descriptor_ = -1;
  clear_leftovers_of(path_);
}

void write_file(const fs::path& path, std::string_view bytes) {
  AtomicFile file(path);
  file.write(bytes);
  file.commit();
}

void append_file(const fs::path& path, std::string_view bytes) {
  const int descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK, 0666);
  if (descriptor < 0) fail("cannot write {}: {}", shown(path), std::strerror(errno));
  const bool written = put_bytes(descriptor, bytes);
  const int reason = errno;
  if (::close(descriptor) != 0 || !written) {
    fail("cannot write {}: {}", shown(path), std::strerror(written ? errno : reason));
  }
}

bool is_part_file(const fs::path& path) {
  return path.extension() == ".part";
}

void clear_leftovers(const fs::path& folder) {
  for (const fs::path& path : list_folder(folder)) {
    if (is_part_file(path) && (!is_folder(path) || is_link(path))) unlink_free(path, true);
  }
}

}  // namespace lengthwise
