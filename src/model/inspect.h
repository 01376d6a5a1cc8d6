#pragma once
/// The one opening into a decoder: what its layers see, compute and leave, for analyses and for constructed weights.
///
/// The pass is the plain decoder's (model/plain_decoder.h), so that it works for every encoding, in double precision
/// and on every device; tests hold what is read here against what the fused engines compute. Sequences are passed one
/// after the other and attention in blocks of queries, so that memory grows with length times the block and not with
/// its square.
#include <functional>

#include "batch/batch.h"
#include "model/decoder.h"

namespace lengthwise {

/// The residual stream of one sequence around a layer.
struct LayerView {
  int64_t layer = 0;
  int64_t sequence = 0;
  at::Tensor before;  ///< [token, width], as the layer receives it
  at::Tensor after;   ///< [token, width], as the next layer receives it
};

/// Attention of one layer for some queries of one sequence.
struct AttentionRows {
  int64_t layer = 0;
  int64_t sequence = 0;
  int64_t first_query = 0;  ///< place of the first query in its sequence
  at::Tensor q;             ///< [head, query, dim], rotated
  at::Tensor k;             ///< [head, key, dim], rotated; all keys of the sequence
  at::Tensor scores;        ///< [head, query, key] before the softmax, -inf where not allowed
  at::Tensor weights;       ///< [head, query, key] after it
};

struct Inspection {
  std::function<void(const LayerView&)> layer;          ///< may be empty
  std::function<void(const AttentionRows&)> attention;  ///< may be empty
  bool causal = true;                                   ///< false: every token sees its whole sequence (a control)
  int64_t layers = 0;                                   ///< how many are passed; 0: all
  int64_t block = int64_t{1} << 24;                     ///< scores held at once
};

/// Passes every sequence of the batch through the decoder, without dropout. Order of calls: by sequence, by layer; rows
/// of attention before the layer's own view.
void inspect(const Decoder& decoder, const Batch& batch, const Inspection& inspection,
             Arithmetic arithmetic = Arithmetic::full);

/// [query, key] double: how far the keys 0 .. keys - 1 stand before the queries from `first_query` on; below 0 for
/// later ones.
at::Tensor distances_apart(int64_t first_query, int64_t queries, int64_t keys, at::Device device = at::kCPU);

/// A batch of one sequence at the positions 0, 1, ...; every token is a target of itself, since nothing is predicted.
Batch single_sequence(const std::vector<int64_t>& tokens, at::Device device = at::kCPU);

/// The same where the model is, with positions by the rules of its encoding as in evaluation. The prompt ends with
/// `<sep>`; a sequence without one has the positions of a prompt that leaves room for just as many tokens.
Batch placed_sequence(const Model& model, const std::vector<int64_t>& tokens);

}  // namespace lengthwise
