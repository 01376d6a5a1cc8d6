#include "core/mapped_files.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "core/error.h"
#include "core/files.h"

namespace lengthwise {

MappedFiles::MappedFiles(const std::vector<Part>& parts) {
  for (const Part& part : parts) {
    LENGTHWISE_CHECK(bytes_ % kUnit == 0, "a part before {} has no whole number of pages", part.path.native());
    if (!is_file(part.path)) fail("{} is missing", shown(part.path));
    if (const int64_t found = file_bytes(part.path); found != part.bytes) {
      fail("{} has {} bytes, and should have {}", shown(part.path), found, part.bytes);
    }
    bytes_ += part.bytes;
  }
  if (bytes_ == 0) return;
  // One range for all of them, whose pieces the files then take.
  base_ = ::mmap(nullptr, static_cast<size_t>(bytes_), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (base_ == MAP_FAILED) {
    base_ = nullptr;
    fail("there is no room for {} bytes of {}: {}", bytes_, shown(parts.front().path.parent_path()),
         std::strerror(errno));
  }
  auto* at = static_cast<char*>(base_);
  for (const Part& part : parts) {
    if (part.bytes == 0) continue;
    const int file = ::open(part.path.c_str(), O_RDONLY | O_CLOEXEC);
    const void* mapped = file < 0
                             ? MAP_FAILED
                             : ::mmap(at, static_cast<size_t>(part.bytes), PROT_READ, MAP_PRIVATE | MAP_FIXED, file, 0);
    const int reason = errno;
    if (file >= 0) ::close(file);
    if (mapped == MAP_FAILED) {
      ::munmap(base_, static_cast<size_t>(bytes_));
      fail("cannot read {}: {}", shown(part.path), std::strerror(reason));
    }
    at += part.bytes;
  }
}

MappedFiles::~MappedFiles() {
  if (base_ != nullptr) ::munmap(base_, static_cast<size_t>(bytes_));
}

}  // namespace lengthwise
