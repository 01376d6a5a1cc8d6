#include "text/unpack.h"

#include <algorithm>
#include <utility>

#include "core/checksum.h"
#include "core/error.h"
#include "core/files.h"

#ifdef LENGTHWISE_LZMA
#include <lzma.h>
#endif
#ifdef LENGTHWISE_ZLIB
#include <zlib.h>
#endif

namespace lengthwise {
namespace fs = std::filesystem;

/// A file, with what was read ahead of it.
class PackedBytes {
 public:
  explicit PackedBytes(const fs::path& path) : path_(path), file_(path), buffer_(1 << 18, '\0') {}

  const fs::path& path() const { return path_; }
  int64_t bytes() const { return file_.bytes(); }
  int64_t taken() const { return taken_; }
  std::string checksum() const { return checksum_text(crc_); }

  /// What lies ready; empty at the end of the file.
  std::string_view ready() {
    if (begin_ == end_) {
      begin_ = 0;
      end_ = file_.read(buffer_.data(), buffer_.size());
      crc_ = crc32c(std::string_view(buffer_).substr(0, end_), crc_);
    }
    return std::string_view(buffer_).substr(begin_, end_ - begin_);
  }
  void take(size_t bytes) {
    begin_ += bytes;
    taken_ += static_cast<int64_t>(bytes);
  }

 private:
  fs::path path_;
  InputFile file_;
  std::string buffer_;
  size_t begin_ = 0, end_ = 0;
  int64_t taken_ = 0;
  uint32_t crc_ = 0;
};

/// Takes packed bytes and gives those they stand for.
class Packing {
 public:
  virtual ~Packing() = default;
  virtual size_t read(PackedBytes& packed, char* to, size_t size) = 0;
};

namespace {

constexpr std::string_view kGzip = "\x1f\x8b";
constexpr std::string_view kXz("\xfd\x37zXZ\0", 6);

class Unpacked : public Packing {
 public:
  size_t read(PackedBytes& packed, char* to, size_t size) override {
    const std::string_view ready = packed.ready();
    const size_t taken = std::min(size, ready.size());
    std::copy_n(ready.data(), taken, to);
    packed.take(taken);
    return taken;
  }
};

[[noreturn]] void fail_damaged(const PackedBytes& packed, const char* packing, bool ended) {
  fail("{} is {}: it cannot be unpacked as {}", shown(packed.path()), ended ? "cut short" : "damaged", packing);
}

#ifdef LENGTHWISE_LZMA
class Xz : public Packing {
 public:
  Xz() {
    constexpr uint64_t kMostMemory = uint64_t{512} << 20;  // xz -9 needs 65 MiB
    LENGTHWISE_CHECK(lzma_stream_decoder(&stream_, kMostMemory, LZMA_CONCATENATED) == LZMA_OK, "no decoder for xz");
  }
  ~Xz() override { lzma_end(&stream_); }
  Xz(const Xz&) = delete;
  Xz& operator=(const Xz&) = delete;

  size_t read(PackedBytes& packed, char* to, size_t size) override {
    stream_.next_out = reinterpret_cast<uint8_t*>(to);
    stream_.avail_out = size;
    while (!done_ && stream_.avail_out == size) {
      const std::string_view ready = packed.ready();
      stream_.next_in = reinterpret_cast<const uint8_t*>(ready.data());
      stream_.avail_in = ready.size();
      const lzma_ret result = lzma_code(&stream_, ready.empty() ? LZMA_FINISH : LZMA_RUN);
      packed.take(ready.size() - stream_.avail_in);
      if (result == LZMA_MEMLIMIT_ERROR) fail("{} needs more than 512 MiB to unpack", shown(packed.path()));
      if (result != LZMA_OK && result != LZMA_STREAM_END) fail_damaged(packed, "xz", result == LZMA_BUF_ERROR);
      done_ = result == LZMA_STREAM_END;
    }
    return size - stream_.avail_out;
  }

 private:
  lzma_stream stream_ = LZMA_STREAM_INIT;
  bool done_ = false;
};
#endif

#ifdef LENGTHWISE_ZLIB
class Gzip : public Packing {
 public:
  Gzip() {
    constexpr int kWithGzipHeader = 15 + 16;
    LENGTHWISE_CHECK(inflateInit2(&stream_, kWithGzipHeader) == Z_OK, "no decoder for gzip");
  }
  ~Gzip() override { inflateEnd(&stream_); }
  Gzip(const Gzip&) = delete;
  Gzip& operator=(const Gzip&) = delete;

  size_t read(PackedBytes& packed, char* to, size_t size) override {
    stream_.next_out = reinterpret_cast<Bytef*>(to);
    stream_.avail_out = static_cast<uInt>(size);
    while (stream_.avail_out == size) {
      const std::string_view ready = packed.ready();
      if (ready.empty()) {
        if (!between_) fail_damaged(packed, "gzip", true);
        break;
      }
      if (std::exchange(between_, false)) inflateReset(&stream_);  // several packed files one behind the other are one
      stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(ready.data()));
      stream_.avail_in = static_cast<uInt>(ready.size());
      const int result = inflate(&stream_, Z_NO_FLUSH);
      packed.take(ready.size() - stream_.avail_in);
      if (result != Z_OK && result != Z_STREAM_END) fail_damaged(packed, "gzip", false);
      between_ = result == Z_STREAM_END;
    }
    return size - stream_.avail_out;
  }

 private:
  z_stream stream_{};
  bool between_ = false;  ///< one packed file has ended and no other has begun
};
#endif

std::unique_ptr<Packing> packing_of(PackedBytes& packed) {
  const std::string_view start = packed.ready();
  [[maybe_unused]] const auto refuse = [&](const char* packing, const char* library) {
    fail("{} is packed by {}, for which this program was built without its library ({}); unpack it first",
         shown(packed.path()), packing, library);
  };
  if (start.starts_with(kXz)) {
#ifdef LENGTHWISE_LZMA
    return std::make_unique<Xz>();
#else
    refuse("xz", "liblzma-dev");
#endif
  }
  if (start.starts_with(kGzip)) {
#ifdef LENGTHWISE_ZLIB
    return std::make_unique<Gzip>();
#else
    refuse("gzip", "zlib1g-dev");
#endif
  }
  return std::make_unique<Unpacked>();
}

}  // namespace

UnpackedFile::UnpackedFile(const fs::path& path)
    : packed_(std::make_unique<PackedBytes>(path)), packing_(packing_of(*packed_)) {}

UnpackedFile::~UnpackedFile() = default;

size_t UnpackedFile::read(char* to, size_t size) {
  size_t filled = 0;
  while (filled < size) {
    const size_t got = packing_->read(*packed_, to + filled, size - filled);
    if (got == 0) break;
    filled += got;
  }
  return filled;
}

int64_t UnpackedFile::packed_bytes() const {
  return packed_->bytes();
}

int64_t UnpackedFile::packed_read() const {
  return packed_->taken();
}

std::string UnpackedFile::checksum() const {
  return packed_->checksum();
}

}  // namespace lengthwise
