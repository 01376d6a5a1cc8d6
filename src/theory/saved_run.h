#pragma once
/// Constructed weights as a run folder (docs/formats.md), so that they can be evaluated, looked at and trained on
/// (`train --start-from`) like those of any run.
#include <filesystem>

#include "theory/construction.h"
#include "train/train_config.h"

namespace lengthwise {

/// What stands in weights that a construction does not need.
///
///     zero    nothing: later layers pass the residual stream on
///     drawn   what training would begin with. In the layers of the construction unused heads and feed-forward units
///             get drawn inputs and keep outputs of zero, so that what the construction computes stays exact and
///             gradients reach all of it; later layers are drawn whole
enum class OtherWeights { zero, drawn };

/// `like` names task, model and lengths; its encoding is set to none. UserError when the construction has no weights to
/// keep, when the model has no room for it, or when sequences do not begin with <bos>.
void save_construction(const Construction& construction, const TheoryOptions& options, const TrainConfig& like,
                       OtherWeights others, const std::filesystem::path& out);

/// Fills what `set` left zero in a decoder of the same shape as `drawn`; `layers`: how many the construction uses.
void fill_others(Decoder& set, const Decoder& drawn, int64_t layers);

}  // namespace lengthwise
