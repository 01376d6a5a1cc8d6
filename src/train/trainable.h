#pragma once
/// Whether a run can be trained on its data, found out before anything is written.
#include "data/data_set.h"
#include "model/model.h"

namespace lengthwise {

/// Tokens that a model reads of the longest example.
int64_t longest_sequence(const TokenSet& set);

/// Tokens of a sequence for each one of its prompt, at most, rounded up.
int64_t most_room(const TokenSet& set);

/// UserError when there is nothing to train or to validate on, when a sequence is longer than the encoding can place,
/// when its rules of positions say nothing of these data, or when --random-offset does not fit either.
void check_trainable(const Model& model, const DataConfig& config, const DataSet& data, int64_t random_offset);

}  // namespace lengthwise
