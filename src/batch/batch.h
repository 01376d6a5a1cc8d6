#pragma once
/// A batch without padding: the tokens of all sequences in a row.
#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

namespace lengthwise {

/// Linear layers see only real tokens; attention runs within each sequence; the head runs only where a target is.
/// The last token of a sequence (its end marker) is only ever predicted, so it is not among the inputs.
struct Batch {
  at::Tensor tokens;     ///< [token] int64: inputs
  at::Tensor offsets;    ///< [sequence + 1] int64: where each sequence begins in `tokens`
  at::Tensor positions;  ///< [token] int64: consecutive within a sequence, starting anywhere
  /// [token] each: positions by the rules that an encoding states (data/placing.h), in their order, int64 or double.
  /// Empty: nobody placed the tokens. Then random rules have the index, and nothing is known of contents.
  std::vector<at::Tensor> streams;
  at::Tensor loss_rows;       ///< [target] int64: rows of `tokens` whose successor is to be predicted, ascending
  at::Tensor targets;         ///< [target] int64: those successors
  at::Tensor target_offsets;  ///< [sequence + 1] int64: where each sequence begins in `targets`
  int64_t longest = 0;        ///< tokens of the longest sequence
  bool from_zero = false;     ///< the positions of every sequence are 0, 1, 2, ...; false: not known to be

  int64_t token_count() const { return tokens.size(0); }
  int64_t sequence_count() const { return offsets.size(0) - 1; }
  int64_t target_count() const { return targets.size(0); }
};

}  // namespace lengthwise
