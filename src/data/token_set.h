#pragma once
/// The examples of one split as one array of token ids.
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "data/data_config.h"
#include "data/example_source.h"
#include "data/token_view.h"
#include "data/vocabulary.h"

namespace lengthwise {

/// Sequence i is tokens[offsets[i]] .. tokens[offsets[i + 1]] - 1, laid out by the frame (data_config.h):
///
///     [<bos>] prompt [<sep>] target <eos>
///
/// Windows of a text (text_windows.h) stay where the text lies: sequence i is window_tokens[i] tokens from offsets[i]
/// on, and may overlap with others.
struct TokenSet {
  std::vector<int32_t> tokens;
  std::vector<int64_t> offsets{0};          ///< [example + 1]
  std::vector<int32_t> prompt_tokens;       ///< [example] how many stand before the target, specials included
  std::vector<int32_t> length;              ///< [example] in the unit of the task
  std::vector<int32_t> category;            ///< [example] place in category_names
  std::vector<std::string> category_names;  ///< in the order of first appearance
  std::shared_ptr<const uint16_t> text;     ///< where the tokens lie instead of in `tokens`; null: there
  std::vector<int32_t> window_tokens;       ///< [example] with `text`

  int64_t size() const { return static_cast<int64_t>(length.size()); }

  TokenView sequence(int64_t i) const {
    const auto at = static_cast<size_t>(i);
    if (text) return {text.get() + offsets[at], static_cast<size_t>(window_tokens[at])};
    return {tokens.data() + offsets[at], static_cast<size_t>(offsets[at + 1] - offsets[at])};
  }
  /// Everything before the target.
  TokenView prompt(int64_t i) const {
    return sequence(i).first(static_cast<size_t>(prompt_tokens[static_cast<size_t>(i)]));
  }
  /// The target and its <eos>.
  TokenView target(int64_t i) const {
    return sequence(i).subspan(static_cast<size_t>(prompt_tokens[static_cast<size_t>(i)]));
  }

  /// Drops every other example; `kept` is ascending. Names of categories stay. Not for windows of a text.
  void keep_only(std::span<const int64_t> kept);

  bool operator==(const TokenSet&) const = default;
};

/// Draws and encodes a whole split. The result does not depend on the number of threads (0: one per core), and neither
/// does the error when there is one: that of the first bad example.
TokenSet build_token_set(const ExampleSource& source, Split split, const Vocabulary& vocabulary, Frame frame,
                         int threads = 0);

}  // namespace lengthwise
