#pragma once
/// The bytes of a file as they were before it was packed: gzip and xz are known by their first bytes, whatever the
/// name.
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

namespace lengthwise {

class PackedBytes;
class Packing;

class UnpackedFile {
 public:
  /// UserError also where the program was built without the library for this packing.
  explicit UnpackedFile(const std::filesystem::path& path);
  ~UnpackedFile();
  UnpackedFile(const UnpackedFile&) = delete;
  UnpackedFile& operator=(const UnpackedFile&) = delete;

  /// Fills as much of the memory as there is left and says how much that was; 0 at the end. UserError that names the
  /// file where its packing is damaged or ends too early.
  size_t read(char* to, size_t size);

  // Of the file as it lies on the disk.
  int64_t packed_bytes() const;
  int64_t packed_read() const;   ///< so far
  std::string checksum() const;  ///< of what was read: all of it after the end

 private:
  std::unique_ptr<PackedBytes> packed_;
  std::unique_ptr<Packing> packing_;
};

}  // namespace lengthwise
