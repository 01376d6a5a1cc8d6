#include "positional/part_names.h"

#include "positional/named.h"

namespace lengthwise {
namespace {

using Prefixes = std::vector<std::pair<std::string, std::string>>;

void match(const EncodingSpec& read, const EncodingSpec& trained, const std::string& at_read,
           const std::string& at_trained, Prefixes& found) {
  const auto place = [](const std::string& at, const std::string& part) { return at + part + "."; };
  if (read.is_sum() && trained.is_sum()) {
    for (const EncodingSpec& part : read.parts) {
      for (const EncodingSpec& other : trained.parts) {
        if (part.name == other.name)
          match(part, other, place(at_read, part.name), place(at_trained, other.name), found);
      }
    }
  } else if (read.is_sum()) {
    for (const EncodingSpec& part : read.parts) {
      if (part.name == trained.name) match(part, trained, place(at_read, part.name), at_trained, found);
    }
  } else if (trained.is_sum()) {
    for (const EncodingSpec& part : trained.parts) {
      if (part.name == read.name) match(read, part, at_read, place(at_trained, part.name), found);
    }
  } else if (read.name == "layers" && trained.name == "layers" && read.parts.size() == trained.parts.size()) {
    for (size_t i = 0; i < read.parts.size(); ++i) {
      const std::string number = std::to_string(i);
      match(read.parts[i], trained.parts[i], place(at_read, number), place(at_trained, number), found);
    }
  } else {
    found.emplace_back(at_read, at_trained);
  }
}

}  // namespace

TrainedNames::TrainedNames(std::string_view read, std::string_view trained) {
  match(read_encoding(read), read_encoding(trained), "encoding.", "encoding.", prefixes_);
}

std::string TrainedNames::operator()(const std::string& name) const {
  for (const auto& [at_read, at_trained] : prefixes_) {
    if (name.starts_with(at_read)) return at_trained + name.substr(at_read.size());
  }
  return name;
}

}  // namespace lengthwise
