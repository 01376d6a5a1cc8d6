#pragma once
/// Files and folders. Nothing here throws anything but a UserError of one line that names the path and the reason:
/// no permission, a name that is too long, links in a circle, a full disk. The functions of std::filesystem that throw
/// are called in files.cc alone (tests/core/sources_test.cc).
///
/// Files are whole or absent: written aside, flushed to the disk, then renamed.
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/printable.h"

namespace lengthwise {

/// A path as it may stand in a message, whatever bytes it is made of.
inline std::string shown(const std::filesystem::path& path) {
  return printable(path.native());
}

// Looking. Links are followed; a link to nothing is not there. UserError where one cannot know.

bool is_there(const std::filesystem::path& path);
bool is_folder(const std::filesystem::path& path);
bool is_file(const std::filesystem::path& path);  ///< an ordinary one: no folder, device, pipe or socket
bool is_link(const std::filesystem::path& path);  ///< whatever it leads to
int64_t file_bytes(const std::filesystem::path& path);

/// Everything in a folder but `.` and `..`, whole paths, sorted by name.
std::vector<std::filesystem::path> list_folder(const std::filesystem::path& path);

/// Bytes that can still be written there; nothing where that cannot be known. The folder need not exist yet.
std::optional<uint64_t> free_bytes(const std::filesystem::path& path);

/// From the root; nothing is resolved.
std::filesystem::path absolute_path(const std::filesystem::path& path);
/// With `.`, `..` and links resolved as far as the path exists.
std::filesystem::path real_path(const std::filesystem::path& path);

// Reading.

/// Refuses what is no ordinary file (a pipe is not waited for) and more than `most` bytes.
inline constexpr int64_t kMostFileBytes = int64_t{1} << 30;
std::string read_file(const std::filesystem::path& path, int64_t most = kMostFileBytes);

/// An ordinary file, read in pieces of any size.
class InputFile {
 public:
  explicit InputFile(const std::filesystem::path& path);
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  int64_t bytes() const { return bytes_; }  ///< as many as it had when it was opened
  /// Fills as much of the memory as there is left to read and says how much that was; 0 at the end.
  size_t read(char* to, size_t size);

 private:
  std::filesystem::path path_;
  int descriptor_ = -1;
  int64_t bytes_ = 0;
};

// Writing.

/// Writes a file under a temporary name in the same folder (NAME.PID.part). `commit` renames it into place, and clears
/// away what killed writers of the same file left; without `commit` the destructor removes it. Refuses to replace a
/// folder, a device or a pipe.
class AtomicFile {
 public:
  explicit AtomicFile(std::filesystem::path path);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void write(std::string_view bytes);
  /// Replaces bytes that were written before.
  void write_at(int64_t offset, std::string_view bytes);
  void commit();

 private:
  [[noreturn]] void fail_write() const;
  void put(std::string_view bytes);
  void flush();

  std::filesystem::path path_;
  std::filesystem::path aside_;
  int descriptor_ = -1;
  std::string buffer_;
};

/// One whole file at once.
void write_file(const std::filesystem::path& path, std::string_view bytes);

/// Adds to the end of a file, which is made where there is none.
void append_file(const std::filesystem::path& path, std::string_view bytes);

/// Removes the files `*.part` in a folder that nobody writes any more. Those that a living process holds stay.
void clear_leftovers(const std::filesystem::path& folder);
bool is_part_file(const std::filesystem::path& path);  ///< named `*.part`

/// Creates the folder and its parents.
void make_folder(const std::filesystem::path& path);
void move_path(const std::filesystem::path& from, const std::filesystem::path& to);
void shorten_file(const std::filesystem::path& path, int64_t bytes);
/// A file, a link or an empty folder; nothing happens where there is none.
void remove_path(const std::filesystem::path& path);
/// A folder with everything in it, and whatever remove_path removes. Links are removed, never followed.
void remove_folder(const std::filesystem::path& path);

}  // namespace lengthwise
