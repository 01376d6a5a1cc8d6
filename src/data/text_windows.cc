#include "data/text_windows.h"

#include <algorithm>

#include "core/error.h"
#include "core/files.h"

namespace lengthwise {
namespace {

static_assert(Vocabulary::kEos == kTextEos && Vocabulary::kBos == kTextBos && Vocabulary::kSpecials == kTextSpecials);

/// Cuts one document, or the whole stream, that lies in [begin, end).
void cut(int64_t begin, int64_t end, int64_t context, int64_t stride, TokenSet& set) {
  int64_t scored = begin;  // the last token that was a target, or stands before the first
  for (int64_t start = begin; scored + 1 < end; start += stride) {
    const int64_t last = std::min(start + context, end - 1);
    set.offsets.back() = start;
    set.offsets.push_back(end);
    set.window_tokens.push_back(static_cast<int32_t>(last - start + 1));
    set.prompt_tokens.push_back(static_cast<int32_t>(scored - start + 1));
    set.length.push_back(static_cast<int32_t>(context));
    set.category.push_back(0);
    scored = last;
  }
}

void keep_first(TokenSet& set, std::optional<int64_t> count) {
  if (!count || *count >= set.size()) return;
  const auto kept = static_cast<size_t>(*count);
  set.offsets.resize(kept + 1);
  set.window_tokens.resize(kept);
  set.prompt_tokens.resize(kept);
  set.length.resize(kept);
  set.category.resize(kept);
}

void check_length(const ResolvedData& data, const PreparedText& text) {
  const SplitManifest& train = text.manifest.of(TextSplit::train);
  if (train.tokens == 0) fail("{} holds no text to train on", shown(data.text));
  const int64_t longest = (data.cross_documents ? train.tokens : train.longest_document) - 1;
  if (longest >= data.context) return;
  fail("no {} of {} has the {} tokens of --context; the longest gives {}{}",
       data.cross_documents ? "stream" : "training document", shown(data.text), data.context, longest,
       !data.cross_documents && train.tokens > data.context
           ? ", and --cross-documents would make one stream of all documents"
           : "");
}

}  // namespace

TokenSet text_windows(const std::shared_ptr<const TextStream>& stream, const WindowOptions& options) {
  const int64_t stride = options.stride == 0 ? options.context : options.stride;
  LENGTHWISE_CHECK(options.context > 0 && stride > 0 && stride <= options.context, "windows of {} by {}",
                   options.context, stride);
  const int64_t end = std::min(options.tokens, std::ssize(stream->tokens()));
  TokenSet set;
  set.category_names = {std::to_string(options.context)};
  if (options.cross_documents) {
    cut(0, end, options.context, stride, set);
  } else {
    for (int64_t document = 0; document < stream->documents() && stream->begin(document) < end; ++document)
      cut(stream->begin(document), std::min(end, stream->end(document)), options.context, stride, set);
  }
  set.text = std::shared_ptr<const uint16_t>(stream, stream->tokens().data());
  return set;
}

Vocabulary text_vocabulary(const TextManifest& manifest) {
  return {manifest.tokenizer == "bytes" ? Cut::bytes : Cut::subwords, manifest.texts};
}

std::vector<int64_t> bytes_of_tokens(const Vocabulary& vocabulary) {
  std::vector<int64_t> bytes(Vocabulary::kSpecials, 0);
  for (int32_t id = Vocabulary::kSpecials; id < vocabulary.size(); ++id)
    bytes.push_back(std::ssize(spoken_text(vocabulary.token(id).text)));
  return bytes;
}

DataSet build_text_set(const ResolvedData& data) {
  DataSet set;
  set.text = std::make_shared<const PreparedText>(open_text(data.text));
  check_length(data, *set.text);
  set.vocabulary = text_vocabulary(set.text->manifest);
  set.frame = {.bos = true, .sep = false};
  WindowOptions options{.context = data.context, .cross_documents = data.cross_documents};
  set.train = text_windows(set.text->stream(TextSplit::train), options);
  keep_first(set.train, data.train_count);
  set.validation = text_windows(set.text->stream(TextSplit::validation), options);
  keep_first(set.validation, data.validation_count);
  options.tokens = data.test_tokens();
  set.test = text_windows(set.text->stream(TextSplit::test), options);
  return set;
}

}  // namespace lengthwise
