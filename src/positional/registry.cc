#include "positional/registry.h"

#include "core/error.h"
#include "core/text.h"

namespace lengthwise {

// One line per encoding: its name, and the function that makes it, which is defined in a file of its own.
#define LENGTHWISE_ENCODINGS(ENCODING)          \
  ENCODING("nope", make_nope)                   \
  ENCODING("t5", make_t5)                       \
  ENCODING("alibi", make_alibi)                 \
  ENCODING("rope", make_rotary)                 \
  ENCODING("sinusoidal", make_sinusoidal)       \
  ENCODING("learned", make_learned)             \
  ENCODING("alibi-learned", make_learned_alibi) \
  ENCODING("transformer-xl", make_transformer_xl)

#define LENGTHWISE_DECLARE(name, make) \
  std::unique_ptr<Encoding> make(const EncodingConfig&, const EncodingShape&, Parameters&);
LENGTHWISE_ENCODINGS(LENGTHWISE_DECLARE)
#undef LENGTHWISE_DECLARE

namespace {

#define LENGTHWISE_ENTRY(name, make) EncodingEntry{name, &make},
constexpr EncodingEntry kEncodings[] = {LENGTHWISE_ENCODINGS(LENGTHWISE_ENTRY)};
#undef LENGTHWISE_ENTRY

}  // namespace

std::span<const EncodingEntry> encodings() {
  return kEncodings;
}

std::vector<std::string> encoding_names() {
  std::vector<std::string> names;
  for (const EncodingEntry& entry : kEncodings) names.emplace_back(entry.name);
  return names;
}

const EncodingEntry& find_encoding(std::string_view name) {
  for (const EncodingEntry& entry : kEncodings) {
    if (entry.name == name) return entry;
  }
  fail("there is no encoding '{}' (`lengthwise encodings` lists them){}", excerpt(name),
       did_you_mean(name, encoding_names()));
}

EncodingInfo describe_encoding(const EncodingEntry& entry) {
  Parameters parameters;
  return entry.make({}, {.layers = 1, .heads = 4, .head_dim = 16, .width = 64, .type = at::kFloat}, parameters)->info();
}

}  // namespace lengthwise
