#pragma once
/// Examples made of text: windows of a prepared stream (text/prepared_text.h), which stay where they are mapped.
///
/// A window of C input tokens is C + 1 tokens, of which all but the first are targets; the next one begins with its
/// last token, so that every token of a document but its `<bos>` is a target once. A document's last window may be
/// shorter.
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "data/data_set.h"
#include "text/prepared_text.h"

namespace lengthwise {

struct WindowOptions {
  int64_t context = 0;           ///< input tokens of a window
  int64_t stride = 0;            ///< how far on the next window begins; 0 or the context: without overlap
  bool cross_documents = false;  ///< the whole stream is cut as if it were one document
  int64_t tokens = std::numeric_limits<int64_t>::max();  ///< of the stream, from its beginning
};

/// With a stride below the context windows overlap, and each scores what no window before it has: the first of a
/// document everything, the others their last `stride` targets, which then have at least context - stride tokens before
/// them.
TokenSet text_windows(const std::shared_ptr<const TextStream>& stream, const WindowOptions& options);

/// The specials, and the tokenizer's tokens with their texts.
Vocabulary text_vocabulary(const TextManifest& manifest);

/// How many bytes of text each token of a vocabulary stands for; specials for none.
std::vector<int64_t> bytes_of_tokens(const Vocabulary& vocabulary);

/// The data set of a configuration with a text.
DataSet build_text_set(const ResolvedData& data);

}  // namespace lengthwise
