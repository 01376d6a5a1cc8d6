#pragma once
/// Bytes as text.
#include <optional>
#include <string>
#include <string_view>

namespace lengthwise {

/// Base64 with padding (RFC 4648).
std::string base64(std::string_view bytes);

/// The bytes of such a text; nothing where it is none.
std::optional<std::string> from_base64(std::string_view text);

}  // namespace lengthwise
