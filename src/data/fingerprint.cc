#include "data/fingerprint.h"

#include <span>

#include "core/error.h"
#include "core/rng.h"
#include "text/prepared_text.h"

namespace lengthwise {
namespace {

/// Takes numbers one after the other. Every step is a bijection of the state for a given number, and of the number for
/// a given state, so that a difference in one number is never lost in that step.
class Hasher {
 public:
  void add(uint64_t number) { state_ = mix64((state_ ^ number) + 0x9e3779b97f4a7c15ull); }
  void add(std::string_view text) {
    add(text.size());
    add(stable_hash(text));
  }
  /// Its size first: where one list ends and the next begins is part of what is hashed.
  template <class T>
  void add(std::span<const T> numbers) {
    add(numbers.size());
    for (const T number : numbers) add(static_cast<uint64_t>(number));
  }
  void add(const TokenSet& set) {
    add(std::span(set.tokens));
    add(std::span(set.offsets));
    add(std::span(set.prompt_tokens));
    add(std::span(set.length));
    if (set.text) add(std::span(set.window_tokens));
    // By name where one first occurs: the numbers count names of examples that were dropped, too.
    std::vector<uint64_t> places(set.category_names.size());
    uint64_t met = 0;
    for (const int32_t category : set.category) {
      uint64_t& place = places[static_cast<size_t>(category)];
      if (place == 0) {
        place = ++met;
        add(set.category_names[static_cast<size_t>(category)]);
      }
      add(place);
    }
  }

  std::string text() const { return fmt::format("{:016x}", state_); }

 private:
  uint64_t state_ = 0;
};

}  // namespace

std::string data_fingerprint(const DataSet& set) {
  Hasher hasher;
  hasher.add(static_cast<uint64_t>(set.vocabulary.cut()));
  hasher.add(static_cast<uint64_t>(set.vocabulary.size()));
  for (int32_t id = 0; id < set.vocabulary.size(); ++id) {
    hasher.add(set.vocabulary.token(id).text);
    hasher.add(uint64_t{set.vocabulary.token(id).glue()});
  }
  hasher.add(uint64_t{set.frame.bos});
  hasher.add(uint64_t{set.frame.sep});
  for (const TokenSet* split : {&set.train, &set.validation, &set.test}) hasher.add(*split);
  // Of a text the tokens are not gone through: their checksums were, when it was opened.
  if (set.text) {
    for (const auto& stream : set.text->streams) hasher.add(stream->checksum());
  }
  return hasher.text();
}

}  // namespace lengthwise
