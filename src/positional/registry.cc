#include "positional/registry.h"

#include <algorithm>

#include "core/error.h"
#include "core/text.h"

namespace lengthwise {

// One line per encoding; each is defined in a file of its own.
#define LENGTHWISE_ENCODINGS(ENCODING) \
  ENCODING(nope)                       \
  ENCODING(t5)                         \
  ENCODING(alibi)                      \
  ENCODING(rope)                       \
  ENCODING(sinusoidal)                 \
  ENCODING(learned)                    \
  ENCODING(alibi_learned)              \
  ENCODING(transformer_xl)             \
  ENCODING(t5_per_layer)               \
  ENCODING(kerple_log)                 \
  ENCODING(kerple_power)               \
  ENCODING(bam)                        \
  ENCODING(sandwich)                   \
  ENCODING(retnet)                     \
  ENCODING(hard_alibi)                 \
  ENCODING(fire)                       \
  ENCODING(shaw)                       \
  ENCODING(xpos)                       \
  ENCODING(p_rope)                     \
  ENCODING(hope)                       \
  ENCODING(half_truncated)             \
  ENCODING(resonance)                  \
  ENCODING(evq_cosh)                   \
  ENCODING(pi)                         \
  ENCODING(ntk)                        \
  ENCODING(yarn)                       \
  ENCODING(llama3)                     \
  ENCODING(log_n)                      \
  ENCODING(ssmax)                      \
  ENCODING(head_scale)                 \
  ENCODING(fox)                        \
  ENCODING(cable)                      \
  ENCODING(wall)                       \
  ENCODING(stick_breaking)             \
  ENCODING(cope)                       \
  ENCODING(dape)                       \
  ENCODING(selective_rope)             \
  ENCODING(path)                       \
  ENCODING(dynamic_ntk)                \
  ENCODING(rerope)                     \
  ENCODING(self_extend)                \
  ENCODING(rope_plus)                  \
  ENCODING(tape)                       \
  ENCODING(abacus)                     \
  ENCODING(randomized)                 \
  ENCODING(random_float)               \
  ENCODING(coupled)                    \
  ENCODING(window)                     \
  ENCODING(drope)                      \
  ENCODING(layers)

#define LENGTHWISE_DECLARE(name) extern const EncodingEntry name##_encoding;
LENGTHWISE_ENCODINGS(LENGTHWISE_DECLARE)
#undef LENGTHWISE_DECLARE

namespace {

#define LENGTHWISE_ENTRY(name) &name##_encoding,
constexpr const EncodingEntry* kEncodings[] = {LENGTHWISE_ENCODINGS(LENGTHWISE_ENTRY)};
#undef LENGTHWISE_ENTRY

}  // namespace

std::span<const EncodingEntry* const> encodings() {
  return kEncodings;
}

std::vector<std::string> encoding_names() {
  std::vector<std::string> names;
  for (const EncodingEntry* entry : kEncodings) {
    if (entry->least_parts == 0) names.push_back(entry->info.name);
  }
  return names;
}

const EncodingEntry* known_entry(std::string_view name) {
  for (const EncodingEntry* entry : kEncodings) {
    if (entry->info.name == name || std::ranges::count(entry->info.aliases, name) > 0) return entry;
  }
  return nullptr;
}

const EncodingEntry& find_encoding(std::string_view name) {
  if (const EncodingEntry* entry = known_entry(name)) return *entry;
  std::vector<std::string> names;
  for (const EncodingEntry* entry : kEncodings) names.push_back(entry->info.name);
  fail("there is no encoding '{}' (`lengthwise encodings` lists them){}", excerpt(name), did_you_mean(name, names));
}

}  // namespace lengthwise
