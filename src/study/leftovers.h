#pragma once
/// What a writer that died left behind: files and folders called `NAME.PID.part`.
#include <filesystem>
#include <string>

namespace lengthwise {

/// The name under which this process writes what will be called `path`.
std::filesystem::path aside(const std::filesystem::path& path);

/// Removes those in `folder` that begin with `start`, unless the process that writes them still runs on this machine.
void remove_leftovers(const std::filesystem::path& folder, const std::string& start = "");

}  // namespace lengthwise
