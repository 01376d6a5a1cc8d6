#include "core/files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "core/error.h"

namespace lengthwise {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail_at(const char* action, const fs::path& path, int reason = errno) {
  fail("cannot {} {}: {}", action, shown(path), std::strerror(reason));
}

void check(const char* action, const fs::path& path, const std::error_code& error) {
  if (error) fail("cannot {} {}: {}", action, shown(path), error.message());
}

/// The kind of what is there, links followed (or not); nothing where there is nothing.
std::optional<mode_t> mode_of(const fs::path& path, bool follow = true) {
  struct stat found {};
  const int status = follow ? ::stat(path.c_str(), &found) : ::lstat(path.c_str(), &found);
  if (status == 0) return found.st_mode;
  if (errno == ENOENT || errno == ENOTDIR) return std::nullopt;
  fail_at("look at", path);
}

const char* kind_of(mode_t mode) {
  if (S_ISDIR(mode)) return "a folder";
  if (S_ISFIFO(mode)) return "a pipe";
  if (S_ISSOCK(mode)) return "a socket";
  return "a device";
}

void need_file(const char* action, const fs::path& path, mode_t mode) {
  if (!S_ISREG(mode)) fail("cannot {} {}: it is {}, not a file", action, shown(path), kind_of(mode));
}

}  // namespace

bool is_there(const fs::path& path) {
  return mode_of(path).has_value();
}

bool is_folder(const fs::path& path) {
  const std::optional<mode_t> mode = mode_of(path);
  return mode && S_ISDIR(*mode);
}

bool is_file(const fs::path& path) {
  const std::optional<mode_t> mode = mode_of(path);
  return mode && S_ISREG(*mode);
}

bool is_link(const fs::path& path) {
  const std::optional<mode_t> mode = mode_of(path, /*follow=*/false);
  return mode && S_ISLNK(*mode);
}

int64_t file_bytes(const fs::path& path) {
  struct stat found {};
  if (::stat(path.c_str(), &found) != 0) fail_at("look at", path);
  return found.st_size;
}

std::vector<fs::path> list_folder(const fs::path& path) {
  std::vector<fs::path> paths;
  std::error_code error;
  for (fs::directory_iterator entry(path, error), end; !error && entry != end; entry.increment(error)) {
    paths.push_back(entry->path());
  }
  check("list", path, error);
  std::sort(paths.begin(), paths.end(), [](const fs::path& a, const fs::path& b) { return a.native() < b.native(); });
  return paths;
}

std::optional<uint64_t> free_bytes(const fs::path& path) {
  std::error_code error;
  fs::path there = fs::absolute(path, error);
  if (error) return std::nullopt;
  while (!fs::exists(there, error) && there.has_relative_path()) there = there.parent_path();
  const fs::space_info space = fs::space(there, error);
  if (error) return std::nullopt;
  return space.available;
}

fs::path absolute_path(const fs::path& path) {
  std::error_code error;
  fs::path whole = fs::absolute(path, error);
  check("find", path, error);
  return whole;
}

fs::path real_path(const fs::path& path) {
  std::error_code error;
  fs::path real = fs::weakly_canonical(path, error);
  check("look at", path, error);
  return real;
}

InputFile::InputFile(const fs::path& path) : path_(path) {
  struct stat found {};
  if (::stat(path.c_str(), &found) != 0) fail_at("read", path);
  need_file("read", path, found.st_mode);
  // It may have become a pipe since: then this does not wait for a writer.
  descriptor_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor_ < 0) fail_at("read", path);
  const int status = ::fstat(descriptor_, &found);
  if (status != 0 || !S_ISREG(found.st_mode)) {
    const int reason = errno;
    ::close(descriptor_);
    if (status != 0) fail_at("read", path, reason);
    need_file("read", path, found.st_mode);
  }
  bytes_ = found.st_size;
}

InputFile::~InputFile() {
  ::close(descriptor_);
}

size_t InputFile::read(char* to, size_t size) {
  size_t filled = 0;
  while (filled < size) {
    const ssize_t got = ::read(descriptor_, to + filled, size - filled);
    if (got == 0) break;
    if (got > 0) {
      filled += static_cast<size_t>(got);
    } else if (errno != EINTR) {
      fail_at("read", path_);
    }
  }
  return filled;
}

std::string read_file(const fs::path& path, int64_t most) {
  InputFile file(path);
  if (file.bytes() > most) {
    fail("cannot read {}: it has {} bytes, more than the {} that are read here", shown(path), file.bytes(), most);
  }
  std::string bytes(static_cast<size_t>(file.bytes()), '\0');
  bytes.resize(file.read(bytes.data(), bytes.size()));
  // Some files (below /proc) do not say how long they are, and others grow.
  for (std::string more(1 << 16, '\0'); static_cast<int64_t>(bytes.size()) < most;) {
    const size_t got = file.read(more.data(), std::min(more.size(), static_cast<size_t>(most) - bytes.size()));
    if (got == 0) break;
    bytes.append(more, 0, got);
  }
  return bytes;
}

void make_folder(const fs::path& path) {
  std::error_code error;
  fs::create_directories(path, error);
  check("create the folder", path, error);
}

void move_path(const fs::path& from, const fs::path& to) {
  std::error_code error;
  fs::rename(from, to, error);
  if (error) fail("cannot move {} to {}: {}", shown(from), shown(to), error.message());
}

void shorten_file(const fs::path& path, int64_t bytes) {
  std::error_code error;
  fs::resize_file(path, static_cast<uintmax_t>(bytes), error);
  check("shorten", path, error);
}

void remove_path(const fs::path& path) {
  std::error_code error;
  fs::remove(path, error);
  check("remove", path, error);
}

}  // namespace lengthwise
