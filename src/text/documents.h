#pragma once
/// The documents of a text file, read in pieces.
///
/// Documents are separated by a form feed (byte 12); a line feed directly behind it belongs to the separator, so that a
/// line with a form feed alone separates two documents. Without one the file is a document. Documents without text are
/// no documents.
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

namespace lengthwise {

class DocumentSink {
 public:
  virtual ~DocumentSink() = default;
  /// The next piece of the document: up to a line feed, the end of the document, or about 64 KiB, whichever comes
  /// first; never empty, and whole characters.
  virtual void text(std::string_view piece) = 0;
  /// The document ends; it had text.
  virtual void end_document() = 0;
};

/// A file that was read.
struct TextSource {
  std::string file;        ///< its name, without folders
  int64_t bytes = 0;       ///< as it lies on the disk
  std::string checksum;    ///< of those
  int64_t text_bytes = 0;  ///< unpacked
};

/// Reads a whole file (text/unpack.h). UserError `FILE: byte N is no UTF-8` for the first byte that is not part of
/// well-formed UTF-8, counted from 0 in the unpacked text; and where the file holds no text. `progress(share of the
/// file)` is called now and then. Memory does not grow with the file.
TextSource read_documents(const std::filesystem::path& path, DocumentSink& sink,
                          const std::function<void(double)>& progress = nullptr);

}  // namespace lengthwise
