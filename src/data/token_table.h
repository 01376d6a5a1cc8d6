#pragma once
/// From the bytes of a piece to its id: an open-addressing hash table that answers in a few nanoseconds.
///
/// A key is (text, glue). Texts of up to eight bytes stand in the table itself, as a number whose lowest byte is the
/// first, so that most lookups touch one cache line; longer ones are compared with the text the caller keeps.
///
/// Why no two keys are mistaken for each other: a slot matches when `key` and `tag` are equal. The tag holds the size
/// and the glue. Of texts of the same size up to eight, `key` is every byte in its own place, so that equal keys are
/// equal texts. Of longer ones it is a hash, and `find` compares the texts as well. Why a search ends: at most half of
/// the slots are taken, so that a free one follows every other.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace lengthwise {

/// `Bytes` bytes as a number whose lowest byte is the first, on every machine. Compilers make one instruction of it.
template <int Bytes>
inline uint64_t load_little(const char* at) {
  uint64_t value = 0;
  for (int i = 0; i < Bytes; ++i) value |= uint64_t{static_cast<unsigned char>(at[i])} << (8 * i);
  return value;
}

class TokenTable {
 public:
  TokenTable() : slots_(16) {}

  /// The id of (text, glue), or -1. `text_of(id)` gives the text an id was inserted with; `text` must not be empty.
  template <class TextOf>
  int32_t find(std::string_view text, uint32_t glue, const TextOf& text_of) const {
    return find_packed(pack(text), tag_of(text.size(), glue),
                       [&](int32_t id) { return text.size() <= 8 || text_of(id) == text; });
  }

  /// The id of a text of 1..8 bytes that is glued to nothing: its bytes as load_little gives them, zeros above.
  int32_t find_short(uint64_t bytes, size_t size) const {
    return find_packed(bytes, tag_of(size, 0), [](int32_t) { return true; });
  }

  /// Adds a key that `find` does not know.
  void insert(std::string_view text, uint32_t glue, int32_t id) {
    if (2 * (used_ + 1) > slots_.size()) grow();
    place({pack(text), tag_of(text.size(), glue), id});
    ++used_;
  }

 private:
  struct Slot {
    uint64_t key = 0;
    uint32_t tag = 0;  ///< size and glue
    int32_t id = -1;   ///< -1: free
  };

  template <class Confirm>
  int32_t find_packed(uint64_t key, uint32_t tag, const Confirm& confirm) const {
    for (size_t at = slot_of(key, tag);; at = (at + 1) & (slots_.size() - 1)) {
      const Slot& slot = slots_[at];
      if (slot.id < 0) return -1;
      if (slot.key == key && slot.tag == tag && confirm(slot.id)) return slot.id;
    }
  }

  /// Up to eight bytes the text itself, byte i in bits 8i to 8i + 7; beyond, a hash of it.
  ///
  /// The text is not read byte by byte, and nothing outside it is read. Every load below puts a byte into its own
  /// place, so that bytes loaded twice are combined with themselves, which `|` leaves as they are. Together the loads
  /// reach all bytes: 0, size / 2 and size - 1 are all there are of 1, 2 or 3; and of 4 to 8, the first four and the
  /// last four.
  static uint64_t pack(std::string_view text) {
    const char* at = text.data();
    const size_t size = text.size();
    if (size < 4) {
      return load_little<1>(at) | load_little<1>(at + size / 2) << (8 * (size / 2)) |
             load_little<1>(at + size - 1) << (8 * (size - 1));
    }
    if (size <= 8) return load_little<4>(at) | load_little<4>(at + size - 4) << (8 * (size - 4));
    uint64_t sum = load_little<8>(at + size - 8);  // the loop leaves out up to seven bytes at the end
    for (size_t i = 0; i + 8 <= size; i += 8) sum = (sum ^ load_little<8>(at + i)) * 0x9fb21c651e98df25ull;
    return sum;
  }

  static uint32_t tag_of(size_t size, uint32_t glue) { return static_cast<uint32_t>(size << 2) | glue; }

  size_t slot_of(uint64_t key, uint32_t tag) const {
    const uint64_t hash = (key ^ tag * 0x9e3779b97f4a7c15ull) * 0xd6e8feb86659fd93ull;
    return static_cast<size_t>((hash ^ hash >> 32) & (slots_.size() - 1));
  }

  void place(const Slot& slot) {
    size_t at = slot_of(slot.key, slot.tag);
    while (slots_[at].id >= 0) at = (at + 1) & (slots_.size() - 1);
    slots_[at] = slot;
  }

  void grow() {
    std::vector<Slot> old(2 * slots_.size());
    old.swap(slots_);
    for (const Slot& slot : old) {
      if (slot.id >= 0) place(slot);
    }
  }

  std::vector<Slot> slots_;  ///< a power of two, at most half full
  size_t used_ = 0;
};

}  // namespace lengthwise
