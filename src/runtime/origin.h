#pragma once
/// Where results come from.
#include <string>

namespace lengthwise {

/// The commit this program was built from, with `-dirty` where files differed from it; `unknown` where nobody said it.
/// The source is written anew at every build (cmake/write_commit.cmake).
std::string build_commit();

/// The name of what computes on `cpu` or `cuda`: of the processor, or of the first GPU.
std::string machine_name(const std::string& device);

}  // namespace lengthwise
