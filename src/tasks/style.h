#pragma once
/// How a problem is put into words: the wording of prompt and answer, and the scratchpad between them.
#include <string>
#include <string_view>
#include <vector>

namespace lengthwise {

/// `printed`: what the paper and the talk on it print. `released`: what the published numbers were trained on.
enum class Wording { printed, released };

std::string to_text(Wording wording);
void from_text(std::string_view text, Wording& wording);

/// Which components of a reasoning step the target spells out before its answer (section 4 of the paper's protocol).
/// All five off means no scratchpad at all.
struct Scratchpad {
  bool input = false;        ///< `in ...`: what the step looks at
  bool computation = false;  ///< `comp ...`: what it computes
  bool output = false;       ///< `out ...`: what comes out
  bool variables = false;    ///< `[ name: value ]`: what it carries along
  bool remaining = false;    ///< `re ...`: what is left to do

  bool any() const { return input || computation || output || variables || remaining; }
  bool operator==(const Scratchpad&) const = default;
};

/// A format of the paper and its name.
struct NamedScratchpad {
  std::string name;
  Scratchpad format;
};

/// none, full, minimal (computation and output), and full without one component (no-input, ..., no-remaining).
const std::vector<NamedScratchpad>& named_scratchpads();

/// The name of one of the paper's formats, otherwise the components: `i1_c1_o0_v0_r1`.
std::string to_text(const Scratchpad& format);

/// A name, `i?_c?_o?_v?_r?`, or a list such as `input,output`.
void from_text(std::string_view text, Scratchpad& format);

struct Style {
  Wording wording = Wording::printed;
  Scratchpad scratchpad{};
};

}  // namespace lengthwise
