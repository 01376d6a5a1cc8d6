#pragma once
/// A folder that one process at a time works in: `flock` on its file `.lock`.
///
/// The kernel drops the lock with the process, however it ends, so a dead owner is never in the way. Two locks of one
/// folder exclude each other within a process as well.
#include <filesystem>
#include <optional>

namespace lengthwise {

class FolderLock {
 public:
  /// Locks the folder, which must exist, or gives nothing when someone else holds it. UserError when it cannot be
  /// written in.
  static std::optional<FolderLock> try_lock(const std::filesystem::path& folder);

  /// Waits for it.
  static FolderLock wait(const std::filesystem::path& folder);

  /// Whether someone holds it now. A folder that does not exist, or was never locked, is free.
  static bool is_held(const std::filesystem::path& folder);

  FolderLock(FolderLock&& other) noexcept;
  FolderLock& operator=(FolderLock&&) = delete;
  ~FolderLock();

 private:
  explicit FolderLock(int descriptor) : descriptor_(descriptor) {}

  static std::optional<FolderLock> lock(const std::filesystem::path& folder, int operation);

  int descriptor_ = -1;
};

}  // namespace lengthwise
