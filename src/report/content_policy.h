#pragma once
/// What a page may do: run its own script and style and nothing else, whatever else finds its way into it.
#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace lengthwise {

/// The content security policy of a page with this one inline style and this one inline script (between their tags, to
/// the byte). Both are named by their hashes; nothing is loaded from anywhere.
std::string content_policy(std::string_view style, std::string_view script);

/// SHA-256 (FIPS 180-4).
std::array<uint8_t, 32> sha256(std::string_view bytes);

}  // namespace lengthwise
