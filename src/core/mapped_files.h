#pragma once
/// Files laid one behind the other in memory without being read: the system brings in what is looked at, and several
/// processes share it.
#include <cstdint>
#include <filesystem>
#include <string_view>
#include <vector>

namespace lengthwise {

class MappedFiles {
 public:
  struct Part {
    std::filesystem::path path;
    int64_t bytes = 0;  ///< what the file must have
  };
  /// What the size of every part but the last must be a multiple of: pages lie one behind the other.
  static constexpr int64_t kUnit = int64_t{1} << 20;

  MappedFiles() = default;
  /// UserError that names the file where one is missing, is no ordinary file, or has another size.
  explicit MappedFiles(const std::vector<Part>& parts);
  ~MappedFiles();
  MappedFiles(const MappedFiles&) = delete;
  MappedFiles& operator=(const MappedFiles&) = delete;

  std::string_view bytes() const { return {static_cast<const char*>(base_), static_cast<size_t>(bytes_)}; }

 private:
  void* base_ = nullptr;
  int64_t bytes_ = 0;
};

}  // namespace lengthwise
