#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "core/error.h"
#include "core/files.h"

namespace lengthwise {
namespace {

namespace fs = std::filesystem;

/// An open folder, in which names are looked up whatever becomes of the path that led to it.
class OpenFolder {
 public:
  /// A link is not followed.
  OpenFolder(int parent, const char* name)
      : descriptor_(::openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)) {
    if (descriptor_ < 0) return;
    stream_ = ::fdopendir(descriptor_);
    if (stream_ == nullptr) ::close(descriptor_);
  }
  ~OpenFolder() {
    if (stream_ != nullptr) ::closedir(stream_);
  }
  OpenFolder(const OpenFolder&) = delete;
  OpenFolder& operator=(const OpenFolder&) = delete;

  bool opened() const { return stream_ != nullptr; }
  int descriptor() const { return descriptor_; }

  /// All of them before any is removed, which may disturb the reading. errno is 0 where nothing went wrong.
  std::vector<std::string> names() {
    std::vector<std::string> names;
    errno = 0;
    while (const dirent* entry = ::readdir(stream_)) {
      const std::string name = entry->d_name;
      if (name != "." && name != "..") names.push_back(name);
    }
    return names;
  }

 private:
  int descriptor_;
  DIR* stream_ = nullptr;
};

void remove_at(int parent, const char* name, const fs::path& path) {
  const auto fail_here = [&] { fail("cannot remove {}: {}", shown(path), std::strerror(errno)); };
  // What can be removed as it is costs no descriptor: there may be none left.
  if (::unlinkat(parent, name, 0) == 0 || errno == ENOENT || errno == ENOTDIR) return;
  const int reason = errno;
  if (reason != EISDIR && reason != EPERM) fail_here();
  if (::unlinkat(parent, name, AT_REMOVEDIR) == 0 || errno == ENOENT) return;
  if (errno == ENOTDIR) errno = reason;
  if (errno != ENOTEMPTY && errno != EEXIST) fail_here();
  OpenFolder folder(parent, name);
  if (!folder.opened()) fail_here();
  const std::vector<std::string> names = folder.names();
  if (errno != 0) fail_here();
  for (const std::string& inner : names) remove_at(folder.descriptor(), inner.c_str(), path / inner);
  if (::unlinkat(parent, name, AT_REMOVEDIR) != 0 && errno != ENOENT) fail_here();
}

}  // namespace

void remove_folder(const fs::path& path) {
  remove_at(AT_FDCWD, path.c_str(), path);
}

}  // namespace lengthwise
