#pragma once
/// Encodings under the names people write: ours, the paper's, its code's.
#include <string>
#include <string_view>
#include <vector>

namespace lengthwise {

/// Our name of an encoding written in any known way (`T5's Relative Bias` -> `t5`, `Rotary` -> `rope`, `APE` ->
/// `sinusoidal`), or "" when nobody knows it.
std::string known_encoding(std::string_view name);

/// How names are written in prose where no run says so itself: `nope` -> `NoPE`, `rope(fraction=1)` ->
/// `RoPE fraction=1`. Any other name stays as it is.
std::string encoding_label(const std::string& name);

/// The family of an encoding where no run says so itself: `none`, `embedding`, `bias` or `rotation` of ours that the
/// first versions had, under any of their names and with any options; `other` of any other name.
std::string encoding_family(const std::string& name);

/// Place in the published table, whose row order breaks ties: Rotary 0, ALiBi 1, T5 2, APE 3, NoPE 4; any other
/// encoding 5.
int published_row(std::string_view name);

/// Ours first, in the order of `lengthwise encodings`, then the others in the order given. Duplicates are dropped.
std::vector<std::string> in_usual_order(const std::vector<std::string>& names);

}  // namespace lengthwise
