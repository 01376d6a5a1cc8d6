#pragma once
/// TOML files, with limits: the library's parser and its tables take stack with their depth, and would exhaust it on a
/// key of 30,000 parts.
#include <toml++/toml.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace lengthwise {

inline constexpr int64_t kMostTomlBytes = int64_t{16} << 20;
inline constexpr size_t kDeepestToml = 50;       ///< brackets and braces within each other
inline constexpr size_t kMostTomlKeyParts = 50;  ///< of a dotted key

/// Every mistake is a UserError `FILE:LINE: reason`.
toml::table parse_toml(std::string_view text, const std::string& where);
toml::table read_toml_file(const std::filesystem::path& path);

}  // namespace lengthwise
