#pragma once
/// Encodings by the text that names them: `rope`, `rope(fraction=0.5)`, `alibi+ssmax`, `layers(rope,rope,nope)`.
///
/// One text stands for one meaning (the identity of a run): names instead of aliases, options in the order of the
/// encoding's list and only where they differ from their default, sums in the order of the registry.
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "positional/entry.h"

namespace lengthwise {

/// Values of options by the flags of the command line that stand for them (EncodingOption::flag).
using EncodingFlags = std::vector<std::pair<std::string, std::string>>;

/// The one form of what the text says. A name or option that is not known is a UserError that points at it. `flags`
/// hold where the text does not say otherwise.
EncodingSpec read_encoding(std::string_view text, const EncodingFlags& flags = {});

/// What it says of itself; of a sum or a mixture, what follows from its parts. Labels stay short, for charts:
/// `RoPE fraction=1`, `ALiBi + SSMax`, `RoPE ×3 / NoPE`.
EncodingInfo describe_encoding(const EncodingSpec& spec);

/// Makes what `read_encoding` gave and adds its parameters.
std::unique_ptr<Encoding> make_encoding(const EncodingSpec& spec, const EncodingShape& shape,
                                        EncodingParameters parameters);

/// Whether it adds to the token embeddings, in front of all layers.
bool adds_to_embeddings(const EncodingSpec& spec, const EncodingShape& shape);

/// All that the encodings of a sum state, at once. Two rotations, or two ways to attend, are a UserError.
std::unique_ptr<Encoding> make_sum(const EncodingSpec& spec, const EncodingShape& shape, EncodingParameters parameters);

}  // namespace lengthwise
