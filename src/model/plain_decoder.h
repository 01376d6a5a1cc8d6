#pragma once
/// The decoder from ordinary tensor operations: the definition that the fused engines are held against, the way to
/// double precision, to encodings the fused kernels cannot apply, and to the insides (scores, weights, hidden states).
#include <functional>

#include "batch/batch.h"
#include "kernels/plain_attention.h"
#include "model/decoder.h"

namespace lengthwise {

/// Called for every layer when given: what an analysis may look at. Shapes are padded, [batch, head, query, key].
using LayerObserver = std::function<void(int64_t layer, const at::Tensor& hidden, const AttentionView& attention)>;

/// Logits [target, vocab] at the batch's loss rows, differentiable.
at::Tensor plain_logits(const Decoder& decoder, const Batch& batch, const StepDropout& dropout = {},
                        const LayerObserver& observe = nullptr, Arithmetic arithmetic = Arithmetic::full);

/// What the head makes logits of: [target, width], differentiable.
at::Tensor plain_rows(const Decoder& decoder, const Batch& batch, const StepDropout& dropout = {},
                      const LayerObserver& observe = nullptr, Arithmetic arithmetic = Arithmetic::full);

/// Mean cross-entropy over the batch's targets, differentiable.
at::Tensor plain_loss(const Decoder& decoder, const Batch& batch, const StepDropout& dropout = {},
                      Arithmetic arithmetic = Arithmetic::full);

/// Where each sequence's tokens stand in a padded batch: `index` [batch, longest] int64 holds rows of the packed batch
/// (0 for padding), `real` [batch, longest] bool says which are tokens, `place` [token] int64 where each token stands
/// among the batch * longest rows. Nothing here or below waits for a device.
struct Padding {
  at::Tensor index, real, place;

  /// [batch, longest, ...] of x [token, ...], with zeros for padding.
  at::Tensor padded(const at::Tensor& x) const;
  /// And back.
  at::Tensor packed(const at::Tensor& x) const;
};
Padding padding_of(const at::Tensor& offsets, int64_t longest, int64_t tokens);

/// Adds to what an encoding is asked with the positions of all pairs of tokens within a sequence. Where all sequences
/// begin at 0, what belongs to pairs of places is the same for all, and is asked for once.
void add_pairs(const Batch& batch, const Padding& padding, EncodingContext& context);

}  // namespace lengthwise
