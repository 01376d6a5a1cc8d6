#include "data/prompt_index.h"

#include <algorithm>
#include <bit>

#include "core/rng.h"

namespace lengthwise {

PromptIndex::PromptIndex(const TokenSet& set)
    : set_(set), slots_(std::bit_ceil(2 * static_cast<size_t>(set.size()) + 2), -1) {
  for (int64_t i = 0; i < set.size(); ++i) {
    int64_t& slot = slots_[slot_of(set.prompt(i))];
    if (slot >= 0) continue;
    slot = i;
    ++distinct_;
  }
}

size_t PromptIndex::slot_of(std::span<const int32_t> prompt) const {
  uint64_t hash = prompt.size();
  for (const int32_t id : prompt) hash = (hash ^ static_cast<uint32_t>(id)) * 0x9e3779b97f4a7c15ull;
  const size_t mask = slots_.size() - 1;
  for (size_t at = mix64(hash) & mask;; at = (at + 1) & mask) {
    if (slots_[at] < 0) return at;
    const std::span<const int32_t> other = set_.prompt(slots_[at]);
    if (std::equal(prompt.begin(), prompt.end(), other.begin(), other.end())) return at;
  }
}

bool PromptIndex::contains(std::span<const int32_t> prompt) const {
  return slots_[slot_of(prompt)] >= 0;
}

std::vector<int64_t> without_known_prompts(const TokenSet& set, const PromptIndex& training) {
  std::vector<int64_t> kept;
  for (int64_t i = 0; i < set.size(); ++i) {
    if (!training.contains(set.prompt(i))) kept.push_back(i);
  }
  return kept;
}

}  // namespace lengthwise
