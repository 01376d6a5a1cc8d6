#pragma once
/// Causal attention within each sequence of a packed batch, forward and backward (kernels/attention.h has the same on
/// the CPU, with the same dropout masks).
///
///     S_ij = scale f_ih <R(i) q_i, K(j) k_j> + table[h, i - j] + b_jh + dense[h, i, j]
///                                                             for i - window < j <= i within a sequence
///     O_i  = sum_j dropout(softmax_j(S_ij)) v_j
///
/// bfloat16 storage runs on the tensor cores (rotated queries and keys, weights and score gradients are rounded to
/// bfloat16 on the way; sums and softmax are float). float storage is the path of full precision, in plain float.
///
/// Three ways, chosen by `longest`, the longest sequence the launch is made for:
///   - bfloat16 and longest <= 64: one block for each sequence and head; scores never leave the chip; the backward pass
///     computes them once.
///   - otherwise: tiles of kAttentionTile (bfloat16) or kFloatAttentionTile (float) queries against the keys before
///     them, memory linear in tokens. The backward pass is one kernel for d_q (and the table) and one for d_k and d_v;
///     for bfloat16 heads of 40 to 64 dims and 257 <= longest <= 512 it is one for all of them, a block for a sequence
///     of a head, where a table, biases of keys or a map of biases of pairs are all that scores have besides content.
///
/// Heads are 8 to 128 wide, in multiples of 8. At most 8,192 tokens a sequence with a table that learns (limits.h).
#include "gpu_kernels/launch.h"

namespace lengthwise::gpu {

struct Attention {
  Storage storage = Storage::bfloat16;
  int64_t token_capacity = 0;
  int64_t sequences = 0;
  int64_t heads = 1;
  int64_t dim = 0;      ///< of a head
  int64_t longest = 0;  ///< no sequence is longer
  /// [token, 3 * head * dim]: queries, keys, values. The forward pass rotates queries and keys in place, and the
  /// backward pass wants them so.
  void* qkv = nullptr;
  int64_t qkv_stride = 0;            ///< elements from one token to the next, in multiples of 8; 0: there are no others
  const int32_t* offsets = nullptr;  ///< [sequence + 1], rows from the last on belong to none; empty sequences are fine
  float scale = 1;
  /// [token, pair]: rotates the pairs (2c, 2c+1) of the first 2 * pair dims; nullptr: none
  const float* cos = nullptr;
  const float* sin = nullptr;
  int64_t pairs = 0;
  const float* key_cos = nullptr;  ///< of the keys, as many pairs; nullptr: as the queries
  const float* key_sin = nullptr;
  const float* table = nullptr;        ///< [head, distance]; nullptr: none
  int64_t distances = 0;               ///< at least `longest`
  const float* query_scale = nullptr;  ///< f [token, head]; nullptr: 1
  const float* key_bias = nullptr;     ///< b [token, head]; nullptr: none
  /// Biases of pairs, [sequence, head, place, place] with places within the sequence; nullptr: none.
  const float* dense = nullptr;
  int64_t dense_places = 0;         ///< an even number, at least `longest`
  bool dense_shared = false;        ///< one for all sequences: [head, place, place]
  const void* dense_map = nullptr;  ///< the same once more, from attention_dense_map; nullptr: none
  int64_t window = 0;               ///< the work is proportional to it; 0: all keys before the query
  DropoutArgs dropout;              ///< row = token * heads + head, column = key's index in its sequence
  const int32_t* plan = nullptr;    ///< from attention_plan, where attention_plan_size() is not 0
};

/// Which tiles there are: once per batch, for all layers and both passes. Size in int32; 0: none is needed.
int64_t attention_plan_size(const Attention& shape);
void attention_plan(const Attention& shape, int32_t* plan, cudaStream_t stream);

/// The first part of attention_forward, for those that go on by themselves (cached_attention.h).
void rotate_queries_and_keys(const Attention& args, cudaStream_t stream);

/// out [token, head * dim] and log_sum [token, head] are written whole.
void attention_forward(const Attention& args, void* out, float* log_sum, cudaStream_t stream);

struct AttentionGradients {
  const void* out = nullptr;       ///< of the forward pass; not read by the short way
  const float* log_sum = nullptr;  ///< of the forward pass
  const void* d_out = nullptr;
  void* d_qkv = nullptr;         ///< laid out as qkv; the columns of queries, keys and values are written whole
  float* delta = nullptr;        ///< scratch [token, head]; not used by every way
  float* table_parts = nullptr;  ///< [part, head, longest], written whole; nullptr: the table does not learn
  /// [token, head], written where a token belongs to a sequence; nullptr: not wanted
  float* d_query_scale = nullptr;
  float* d_key_bias = nullptr;
  /// [part, head, place, place], attention_dense_parts() of them: added to, so that the layers that have the same
  /// biases add up there; nullptr: not wanted
  float* d_dense = nullptr;
  /// Scratch of attention_score_gradients_size() bytes; wanted where that is not 0 and d_dense is.
  void* score_gradients = nullptr;
};

void attention_backward(const Attention& args, const AttentionGradients& gradients, cudaStream_t stream);

/// How many parts a backward pass writes, and the most for any shape with so many sequences and heads. Put the layers'
/// parts behind each other and add them up once with sum_parts (sums.h): groups = heads, columns = longest,
/// group_stride = longest, part_stride = heads * longest.
int64_t attention_table_parts(const Attention& shape);
int64_t most_attention_table_parts(int64_t sequences, int64_t heads);

/// Biases of pairs as the lanes of the kernels over tiles hold them, in half precision, clamped to its range: vectors
/// of 16 bytes in place of single numbers, and no question whether they are there. Once per batch, for all layers that
/// have them and both passes. Size in bytes; 0: for such a shape nothing would read it (score_terms.cuh).
int64_t attention_dense_map_size(const Attention& shape);
void attention_dense_map(const Attention& shape, void* map, cudaStream_t stream);

/// How many parts of the gradient of biases of pairs there are: a part for each sequence, in order, or, where sequences
/// share the biases and are long, fewer. Those of shared biases have to be added up. `shape` with its map, if it has
/// one.
int64_t attention_dense_parts(const Attention& shape);

/// Room for the gradient of every score, which the way back over whole sequences writes down for the sums of pairs, in
/// bfloat16; 0: none is wanted.
int64_t attention_score_gradients_size(const Attention& shape);

inline constexpr int64_t kAttentionTile = 64;
inline constexpr int64_t kFloatAttentionTile = 32;

}  // namespace lengthwise::gpu
