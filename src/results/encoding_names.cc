#include "results/encoding_names.h"

#include <algorithm>
#include <cstddef>
#include <unordered_set>

namespace lengthwise {
namespace {

struct KnownEncoding {
  const char* name;
  const char* label;
  const char* family;
  int published_row;
  std::vector<const char*> others;  ///< letters and digits only, lower case
};

const std::vector<KnownEncoding>& known_encodings() {
  static const std::vector<KnownEncoding> all = {
      {"nope", "NoPE", "none", 4, {"none", "nopositionalencoding", "nopositionalembedding", "penone"}},
      {"t5", "T5", "bias", 2, {"t5srelativebias", "t5relativebias", "t5relative", "t5bias", "pet5"}},
      {"alibi", "ALiBi", "bias", 1, {"pealibi"}},
      {"rope", "RoPE", "rotation", 0, {"rotary", "rotarypositionembedding", "rotarypositionalembedding", "perotary"}},
      {"sinusoidal",
       "Sinusoidal",
       "embedding",
       3,
       {"ape", "absolutepositionembedding", "absolutepositionalembedding", "abssinusoid", "peabssin", "sinusoid"}},
      {"learned", "Learned", "embedding", 5, {"abslearned"}},
      {"alibi-learned", "ALiBi, learned", "bias", 5, {}},
      {"transformer-xl", "Transformer-XL", "bias", 5, {"transformerxlrelativeencoding"}},
  };
  return all;
}

std::string letters_of(std::string_view name) {
  std::string letters;
  for (const char c : name) {
    if (c >= 'A' && c <= 'Z') letters += static_cast<char>(c - 'A' + 'a');
    if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')) letters += c;
  }
  return letters;
}

const KnownEncoding* find_known(std::string_view name) {
  const std::string letters = letters_of(name);
  for (const KnownEncoding& known : known_encodings()) {
    if (letters == letters_of(known.name)) return &known;
    for (const char* other : known.others) {
      if (letters == other) return &known;
    }
  }
  return nullptr;
}

}  // namespace

std::string known_encoding(std::string_view name) {
  const KnownEncoding* known = find_known(name);
  return known == nullptr ? "" : known->name;
}

std::string encoding_label(const std::string& name) {
  for (const KnownEncoding& known : known_encodings()) {
    if (!name.starts_with(known.name)) continue;
    std::string rest = name.substr(std::string_view(known.name).size());
    // A variant: the name and the options that tell it apart.
    if (rest.empty() || rest.starts_with(" ")) return known.label + rest;
    const bool options = rest.starts_with("(") && rest.find(')') == rest.size() - 1;
    if (!options) continue;
    rest.pop_back();
    std::replace(rest.begin(), rest.end(), ',', ' ');
    return known.label + (" " + rest.substr(1));
  }
  return name;
}

std::string encoding_family(const std::string& name) {
  const KnownEncoding* known = find_known(name);
  if (known == nullptr) known = find_known(name.substr(0, name.find_first_of(" (")));
  return known == nullptr ? "other" : known->family;
}

int published_row(std::string_view name) {
  const KnownEncoding* known = find_known(name);
  return known == nullptr ? 5 : known->published_row;
}

std::vector<std::string> in_usual_order(const std::vector<std::string>& names) {
  std::vector<std::string> distinct;
  std::unordered_set<std::string_view> seen;
  for (const std::string& name : names) {
    if (seen.insert(name).second) distinct.push_back(name);
  }
  const std::vector<KnownEncoding>& known = known_encodings();
  std::vector<std::pair<std::ptrdiff_t, std::string>> placed;
  for (std::string& name : distinct) {
    const KnownEncoding* found = find_known(name);
    placed.emplace_back(found == nullptr ? std::ssize(known) : found - known.data(), std::move(name));
  }
  std::stable_sort(placed.begin(), placed.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<std::string> ordered;
  ordered.reserve(placed.size());
  for (auto& [place, name] : placed) ordered.push_back(std::move(name));
  return ordered;
}

}  // namespace lengthwise
