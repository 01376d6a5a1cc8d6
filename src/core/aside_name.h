#pragma once
/// NAME.PROCESS.part: where something is written before it takes its place.
#include <sys/types.h>

#include <filesystem>
#include <optional>

namespace lengthwise {

/// Where this process writes what becomes `path`.
std::filesystem::path aside_of(const std::filesystem::path& path);

/// The process that writes `entry`, a neighbour of `path`, to become it; nothing for any other name.
std::optional<pid_t> writer_of(const std::filesystem::path& entry, const std::filesystem::path& path);

}  // namespace lengthwise
