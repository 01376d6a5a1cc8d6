#include "core/files.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "core/error.h"

namespace lengthwise {

AtomicFile::AtomicFile(std::filesystem::path path)
    : path_(std::move(path)), aside_(path_.string() + fmt::format(".{}.part", ::getpid())) {
  descriptor_ = ::open(aside_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (descriptor_ < 0) fail_write();
}

AtomicFile::~AtomicFile() {
  if (descriptor_ < 0) return;
  ::close(descriptor_);
  ::unlink(aside_.c_str());
}

void AtomicFile::fail_write() const {
  fail("cannot write {}: {}", path_.string(), std::strerror(errno));
}

void AtomicFile::write(std::string_view bytes) {
  constexpr size_t kBufferSize = 1 << 20;
  buffer_ += bytes;
  if (buffer_.size() >= kBufferSize) flush();
}

void AtomicFile::flush() {
  std::string_view left = buffer_;
  while (!left.empty()) {
    const ssize_t written = ::write(descriptor_, left.data(), left.size());
    if (written < 0) {
      if (errno == EINTR) continue;
      fail_write();
    }
    left.remove_prefix(static_cast<size_t>(written));
  }
  buffer_.clear();
}

void AtomicFile::commit() {
  flush();
  if (::fsync(descriptor_) != 0) fail_write();
  if (::close(descriptor_) != 0) {
    descriptor_ = -1;
    ::unlink(aside_.c_str());
    fail_write();
  }
  descriptor_ = -1;
  if (::rename(aside_.c_str(), path_.c_str()) != 0) {
    const int reason = errno;
    ::unlink(aside_.c_str());
    errno = reason;
    fail_write();
  }
}

void write_file(const std::filesystem::path& path, std::string_view bytes) {
  AtomicFile file(path);
  file.write(bytes);
  file.commit();
}

std::string read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file || std::filesystem::is_directory(path)) fail("cannot read {}: {}", path.string(), std::strerror(errno));
  std::string bytes(static_cast<size_t>(file.tellg()), '\0');
  file.seekg(0);
  file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  if (!file) fail("cannot read {}", path.string());
  return bytes;
}

void make_folder(const std::filesystem::path& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error) fail("cannot create the folder {}: {}", path.string(), error.message());
}

}  // namespace lengthwise
