#pragma once
/// Files to read, packed and not.
#include <string>
#include <vector>

#ifdef LENGTHWISE_LZMA
#include <lzma.h>
#endif
#ifdef LENGTHWISE_ZLIB
#include <zlib.h>
#endif

namespace lengthwise {

#ifdef LENGTHWISE_LZMA
inline std::string packed_by_xz(const std::string& text) {
  std::string packed(lzma_stream_buffer_bound(text.size()), '\0');
  size_t used = 0;
  lzma_easy_buffer_encode(6, LZMA_CHECK_CRC64, nullptr, reinterpret_cast<const uint8_t*>(text.data()), text.size(),
                          reinterpret_cast<uint8_t*>(packed.data()), &used, packed.size());
  packed.resize(used);
  return packed;
}
#endif

#ifdef LENGTHWISE_ZLIB
inline std::string packed_by_gzip(const std::string& text) {
  z_stream stream{};
  deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
  std::string packed(deflateBound(&stream, text.size()) + 64, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}
#endif

}  // namespace lengthwise
