#pragma once
/// The list of encodings. Help texts, error messages, documentation and property tests follow from it.
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "positional/entry.h"

namespace lengthwise {

/// Those that stand alone, then those that are made of others.
std::span<const EncodingEntry* const> encodings();

/// By its name or one of its aliases; nullptr: none.
const EncodingEntry* known_entry(std::string_view name);

/// An unknown name is a UserError with the nearest known one.
const EncodingEntry& find_encoding(std::string_view name);

/// Of those that stand alone.
std::vector<std::string> encoding_names();

}  // namespace lengthwise
