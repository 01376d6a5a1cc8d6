#include "text/documents.h"

#include <algorithm>

#include "core/error.h"
#include "core/files.h"
#include "core/printable.h"
#include "text/unpack.h"

namespace lengthwise {
namespace {

constexpr size_t kRead = 1 << 20;
constexpr size_t kLongestPiece = 1 << 16;
constexpr size_t kLongestCharacter = 4;

bool continues_character(char c) {
  return (static_cast<unsigned char>(c) & 0xC0) == 0x80;
}

/// Cuts well-formed text into pieces and documents.
class Cutter {
 public:
  explicit Cutter(DocumentSink& sink) : sink_(sink) {}

  /// Takes as much of the text as can be told to be whole pieces, or everything at the end, and says how much that was.
  size_t take(std::string_view text, bool all) {
    size_t at = 0;
    while (at < text.size()) {
      if (behind_separator_ && text[at] == '\n') ++at;
      behind_separator_ = false;
      const std::string_view rest = text.substr(at);
      size_t end = rest.substr(0, kLongestPiece).find_first_of("\n\f");
      if (end == std::string_view::npos) {
        if (rest.size() <= kLongestPiece && !all) return at;
        end = std::min(rest.size(), kLongestPiece);
        while (end < rest.size() && continues_character(rest[end])) --end;
        give(rest.substr(0, end));
        at += end;
      } else if (rest[end] == '\n') {
        give(rest.substr(0, end + 1));
        at += end + 1;
      } else {
        give(rest.substr(0, end));
        end_document();
        behind_separator_ = true;
        at += end + 1;
      }
    }
    return at;
  }

  void end_document() {
    if (has_text_) sink_.end_document();
    has_text_ = false;
  }

  bool found_text() const { return found_text_; }

 private:
  void give(std::string_view piece) {
    if (piece.empty()) return;
    sink_.text(piece);
    has_text_ = found_text_ = true;
  }

  DocumentSink& sink_;
  bool behind_separator_ = false;
  bool has_text_ = false;    ///< the document
  bool found_text_ = false;  ///< the file
};

}  // namespace

TextSource read_documents(const std::filesystem::path& path, DocumentSink& sink,
                          const std::function<void(double)>& progress) {
  UnpackedFile file(path);
  Cutter cutter(sink);
  std::string buffer;  // [0, checked) is known to be UTF-8
  size_t checked = 0;
  int64_t before = 0;  // bytes of the text in front of the buffer
  for (bool more = true; more;) {
    const size_t kept = buffer.size();
    buffer.resize(kept + kRead);
    const size_t got = file.read(buffer.data() + kept, kRead);
    buffer.resize(kept + got);
    more = got == kRead;
    const size_t bad = find_invalid_utf8(std::string_view(buffer).substr(checked));
    if (bad == std::string::npos) {
      checked = buffer.size();
    } else {
      checked += bad;
      // The last character may go on in what is not read yet.
      if (!more || buffer.size() - checked >= kLongestCharacter) {
        fail("{}: byte {} is no part of UTF-8 text", shown(path), before + static_cast<int64_t>(checked));
      }
    }
    const size_t taken = cutter.take(std::string_view(buffer).substr(0, checked), !more);
    buffer.erase(0, taken);
    checked -= taken;
    before += static_cast<int64_t>(taken);
    if (progress && file.packed_bytes() > 0)
      progress(static_cast<double>(file.packed_read()) / static_cast<double>(file.packed_bytes()));
  }
  cutter.end_document();
  if (!cutter.found_text()) fail("{} holds no text", shown(path));
  return {path.filename().string(), file.packed_bytes(), file.checksum(), before};
}

}  // namespace lengthwise
