#pragma once
/// A folder that is whole or absent: written under another name beside its own, then renamed.
#include <filesystem>
#include <memory>

namespace lengthwise {

/// `NAME.PROCESS.part`, removed with all its files unless `commit` renamed it into place. What killed processes left
/// under such names is removed first. UserError where the folder exists already and is not empty.
class FolderAside {
 public:
  explicit FolderAside(const std::filesystem::path& folder);
  ~FolderAside();
  FolderAside(const FolderAside&) = delete;
  FolderAside& operator=(const FolderAside&) = delete;

  const std::filesystem::path& path() const { return aside_; }

  void commit();

 private:
  class Held;

  std::filesystem::path path_;
  std::filesystem::path aside_;
  std::unique_ptr<Held> lock_;
};

}  // namespace lengthwise
