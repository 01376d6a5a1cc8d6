#pragma once
/// Attention maps small enough to be kept: every head's weights on one sequence as bytes.
#include <cstdint>
#include <vector>

#include "core/json.h"
#include "model/decoder.h"

namespace lengthwise {

inline constexpr int64_t kMapSide = 64;  ///< rows and columns at most

/// {"side": s, "tokens": n, "maps": [layer][head] base64}: s x s bytes by rows, queries downwards, each 255
/// sqrt(weight) of the largest weight among the cells that fall together.
Json head_maps(const Decoder& decoder, const std::vector<int64_t>& tokens);

}  // namespace lengthwise
