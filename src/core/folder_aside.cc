#include "core/folder_aside.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <unistd.h>

#include <optional>

#include "core/aside_name.h"
#include "core/error.h"
#include "core/files.h"

namespace lengthwise {

namespace fs = std::filesystem;

/// A lock on a folder, held until this ends or its process does.
class FolderAside::Held {
 public:
  explicit Held(const fs::path& folder)
      : descriptor_(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)) {
    held_ = descriptor_ >= 0 && ::flock(descriptor_, LOCK_EX | LOCK_NB) == 0;
  }
  ~Held() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;

  bool held() const { return held_; }

 private:
  int descriptor_;
  bool held_ = false;
};

namespace {

void remove_quietly(const fs::path& folder) {
  try {
    remove_folder(folder);
  } catch (const UserError&) {
    // It is in nobody's way.
  }
}

/// Removes what processes that were killed left aside of `path`. One that still writes holds its folder, or, in the
/// moment before it does, exists; ours has none yet.
template <class RemoveFree>
void remove_leftovers(const fs::path& path, const RemoveFree& remove_free) {
  if (!is_folder(path.parent_path())) return;
  for (const fs::path& entry : list_folder(path.parent_path())) {
    const std::optional<pid_t> writer = writer_of(entry, path);
    if (!writer || (*writer != ::getpid() && ::kill(*writer, 0) == 0)) continue;
    remove_free(entry);
  }
}

}  // namespace

FolderAside::FolderAside(const fs::path& folder)
    : path_(absolute_path(folder / "").lexically_normal().parent_path()), aside_(aside_of(path_)) {
  if (folder.empty()) fail("the name of the folder to write is empty");
  if (is_there(path_) && !(is_folder(path_) && list_folder(path_).empty())) {
    fail("{} exists already{}; name a new folder", shown(folder),
         is_folder(path_) ? " and is not empty" : " and is not a folder");
  }
  remove_leftovers(path_, [](const fs::path& left) {
    const Held lock(left);
    if (lock.held()) remove_quietly(left);
  });
  make_folder(aside_);
  lock_ = std::make_unique<Held>(aside_);
}

FolderAside::~FolderAside() {
  lock_.reset();  // where few files may be open, this was the last one, and removing needs one
  remove_quietly(aside_);
}

void FolderAside::commit() {
  move_path(aside_, path_);  // replaces an empty folder, never a full one
}

}  // namespace lengthwise
