#pragma once
/// Files that are whole or absent: write aside, flush to the disk, then rename.
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

namespace lengthwise {

/// Writes a file under a temporary name in the same folder. `commit` renames it into place; without `commit` the
/// destructor removes it. Every failure (no such folder, disk full) is a UserError that names the file and the reason.
class AtomicFile {
 public:
  explicit AtomicFile(std::filesystem::path path);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void write(std::string_view bytes);
  void commit();

 private:
  [[noreturn]] void fail_write() const;

  std::filesystem::path path_;
  std::filesystem::path aside_;
  int descriptor_ = -1;
  std::string buffer_;

  void flush();
};

/// One whole file at once.
void write_file(const std::filesystem::path& path, std::string_view bytes);

/// Throws UserError when it cannot be read.
std::string read_file(const std::filesystem::path& path);

/// Creates the folder and its parents, or throws UserError.
void make_folder(const std::filesystem::path& path);

}  // namespace lengthwise
