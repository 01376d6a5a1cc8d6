#pragma once
/// Bytes as text.
#include <string>
#include <string_view>

namespace lengthwise {

/// Base64 with padding (RFC 4648).
std::string base64(std::string_view bytes);

}  // namespace lengthwise
