#pragma once
/// Which prompts stand in a token set: exact, by hash and then by comparison.
#include <cstdint>
#include <span>
#include <vector>

#include "data/token_set.h"

namespace lengthwise {

class PromptIndex {
 public:
  /// `set` must outlive the index and not change.
  explicit PromptIndex(const TokenSet& set);

  /// How many different prompts there are.
  int64_t distinct() const { return distinct_; }

  /// Whether this prompt (specials included, as TokenSet::prompt gives it) is one of them.
  bool contains(std::span<const int32_t> prompt) const;

 private:
  /// The slot that holds the prompt, or the free one where it would go.
  size_t slot_of(std::span<const int32_t> prompt) const;

  const TokenSet& set_;
  std::vector<int64_t> slots_;  ///< an example each, or -1; a power of two, at most half full
  int64_t distinct_ = 0;
};

/// The examples of `set` whose prompts `training` does not have, ascending.
std::vector<int64_t> without_known_prompts(const TokenSet& set, const PromptIndex& training);

}  // namespace lengthwise
