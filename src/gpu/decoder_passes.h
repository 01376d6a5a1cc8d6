#pragma once
/// The decoder on the GPU: a forward and a backward pass as launches on one stream, over memory that stays in place.
///
/// The same function as model/plain_decoder.h and model/cpu_engine.h, with the same dropout masks. Nothing is allocated
/// and nothing waits during a pass, so that it can be captured into a graph; how many rows are real is read from device
/// memory (gpu_kernels/step_state.h), capacities are fixed by the shape a pass is launched for.
///
/// bf16: weights (from the mirror), activations and their gradients are bfloat16, the head included, and so are the
/// gradients of the layers' weights, once summed in float; the residual stream, softmax, norms, logits, loss and all
/// other gradients are float.
///
/// The head runs in pieces of rows of targets, so that memory does not grow with targets times vocabulary. A batch of
/// one piece, as a task's is, has its logits' gradient when the backward pass begins, and the embedding's is made
/// beside that. Of several pieces each goes all the way while its logits are there: losses, the gradient of the
/// head's input, and what it adds to the embedding's gradient, in the order of the pieces.
#include <functional>
#include <optional>

#include "gpu/device_memory.h"
#include "gpu/encoding_values.h"
#include "gpu/products.h"
#include "gpu/side_stream.h"
#include "gpu_kernels/assemble.h"
#include "gpu_kernels/attention.h"
#include "gpu_kernels/key_decay.h"

namespace lengthwise {

/// Capacities of a pass.
struct PassShape {
  int64_t sequences = 0;
  int64_t tokens = 0;
  int64_t targets = 0;
  int64_t longest = 0;       ///< tokens of a sequence
  bool every_token = false;  ///< is a target, as in text: then their rows need not be picked

  auto operator<=>(const PassShape&) const = default;
  bool fits_in(const PassShape& other) const {
    return sequences <= other.sequences && tokens <= other.tokens && targets <= other.targets &&
           longest <= other.longest;
  }
};

/// 256 MiB of floats and, in training, half of that (bf16) or as much for their gradient.
inline constexpr int64_t kLogitsAtOnce = int64_t{1} << 26;
/// Rows of a piece: at least so many, below which products leave the chip idle, and a multiple of the rows of their
/// tiles.
inline constexpr int64_t kLeastHeadRows = 1024;
inline constexpr int64_t kHeadRowStep = 128;
/// Rows of targets in a piece of the head.
int64_t head_rows_for(int64_t vocabulary);

class DecoderPasses {
 public:
  /// How a layer's queries, keys and values become its result: gpu::attention_forward, or what stands for it.
  using Attend = std::function<void(int64_t layer, const gpu::Attention& args, void* out, float* log_sum)>;

  /// `training`: keeps what a backward pass needs. `mirror`: the bfloat16 copy of the parameter arena, undefined when
  /// arithmetic is float. `head_rows`: of a piece of the head; 0: head_rows_for the vocabulary. Tests ask for fewer.
  DecoderPasses(Decoder& decoder, at::Tensor mirror, bool tf32, bool training, cudaStream_t stream,
                int64_t head_rows = 0);

  /// Forward passes that follow attend so; a backward pass does not know of it.
  void attend_with(Attend attend) { attend_ = std::move(attend); }

  /// Makes room for passes of this shape; false: there was room already. After true, graphs captured before are void.
  bool reserve(const PassShape& shape);

  /// The buffers of a batch of this shape.
  gpu::DeviceBatch batch(const PassShape& shape) const;
  gpu::StepState* state() const { return state_; }
  /// What the encoding draws for a layer from the seed in state(), also when this is captured and replayed. `done`: as
  /// StepNoise has it.
  StepNoise noise(double dropout, int64_t layer, double done) const;
  /// Positions by the encoding's rules for the batch at hand, [token] each; nothing waits for them.
  void load_streams(const std::vector<at::Tensor>& streams, const PassShape& shape);
  /// What an encoding is asked with about the tokens of the batch on the device (EncodingValues::by_token); behind the
  /// last one, and in pairs behind the end of a sequence, there may be any.
  EncodingContext token_context(const PassShape& shape) const;
  const float* losses() const { return losses_; }  ///< [target]
  const int32_t* best() const { return best_; }    ///< [target]
  /// [Parameters::products()] bfloat16, laid out like the front of the arena; undefined when arithmetic is float.
  const at::Tensor& product_gradients() const { return product_gradients_; }
  /// Sums of the squares of all of them (gpu::gradient_squares of each layer), as long as they are defined.
  const at::Tensor& product_squares() const { return product_squares_; }

  /// From the batch to losses, best tokens and, in training, the gradient of the logits; with several pieces that of
  /// the head's input and its part of the embedding's.
  void forward(const PassShape& shape, const EncodingValues& values, double dropout);

  /// Writes the gradients of all parameters in use: to the arena, with bf16 those of products to product_gradients().
  void backward(const PassShape& shape, const EncodingValues& values, double dropout);

 private:
  /// What a layer leaves for its backward pass: reciprocal standard deviations (`inverse`) and results of its norms,
  /// logarithms of the softmax's denominators, attention's output (`mixed`), and what is behind the rectifier.
  struct Layer {
    float *inverse = nullptr, *log_sum = nullptr, *inverse_mid = nullptr;
    float *sum = nullptr, *sum_mid = nullptr;  ///< where the norms leave the residual stream
    float* key_bias = nullptr;                 ///< [token, head], where the layer has a decay
    void *normed = nullptr, *qkv = nullptr, *mixed = nullptr, *normed_mid = nullptr, *hidden = nullptr;
  };

  /// The gradients of a layer's activations that its weight gradients are made from, on the second stream. Two sets
  /// take turns, so that one layer's can still be read there while the next layer's are written.
  struct LayerGradients {
    void *ff_branch = nullptr, *hidden = nullptr, *attention_branch = nullptr, *qkv = nullptr;
  };

  void lay_out(const PassShape& shape);
  void place_sums();
  /// Sums the squares of a layer's gradients, for the norm, when all are there and still in the cache.
  void square_layer(int64_t index);
  /// Where a parameter's gradient is written, and in which numbers.
  struct GradientPlace {
    void* to;
    gpu::Storage storage;
  };
  GradientPlace gradient_place(const Parameter* parameter) const;
  /// The weight gradient x^T dy of y = x W, on the second stream.
  void learn(const void* x, int64_t x_stride, const void* dy, const Parameter* parameter, int64_t rows);
  /// The same for the query-key-value product.
  void learn_qkv(int64_t layer, const void* dy, int64_t rows);
  void activations(void** pointer, int64_t count) { memory_->add_bytes(pointer, count * gpu::bytes_of(storage_)); }
  int64_t place_of(const Parameter* parameter) const;  ///< in the arena
  const void* weights(const Parameter* parameter) const;
  gpu::DropoutArgs drop(double probability, DropoutPlace place, int64_t layer = 0) const;
  gpu::Attention attention(const PassShape& shape, const EncodingValues& values, double dropout, int64_t layer) const;
  int64_t padded_vocabulary() const;
  /// Rows of the embedding that the head's products take: a product with a side that is no multiple of 8 goes by
  /// kernels of older chips and takes twice as long, so that what lies behind the embedding in the arena, which are the
  /// gains of the norms, fills it up. Nobody reads its logits, and their gradient is 0: so is what a product leaves in
  /// the place of the gains' gradients, which are written at the end of the backward pass. Where there are too few
  /// gains: the vocabulary.
  int64_t head_columns() const;
  /// Columns of a layer's query-key-value product: those of its weights, and zeros up to a multiple of 8 where the
  /// encoding's own make them another number.
  int64_t qkv_columns(int64_t layer) const;
  bool pads(int64_t layer) const;
  /// The weights of that product; `pad_weights` makes those with zeros, of all layers.
  const void* qkv_weights(int64_t layer) const;
  void pad_weights();
  gpu::KeyDecay decay_of(const PassShape& shape, const EncodingValues& values, int64_t layer) const;
  /// The way back through a layer's decay: to the columns of d_qkv and to the parts of its constant's gradient.
  void learn_decay(const PassShape& shape, const EncodingValues& values, int64_t layer, void* d_qkv);
  bool in_pieces(const PassShape& shape) const { return shape.targets > head_rows_; }  ///< more than one
  void* head_row(void* rows, int64_t row) const;                                       ///< of head_ or d_head_
  void head_forward(const PassShape& shape);
  void head_backward(const PassShape& shape);  ///< nothing where the pieces were learnt from one by one
  /// Losses and best tokens of rows from `first` on and, in training, the gradient of their logits.
  void score_piece(int64_t first, int64_t rows);
  /// From the gradient of their logits to the embedding's, which is written by the first piece and added to by others.
  void learn_piece(Products& products, int64_t first, int64_t rows);
  /// From the gradient of their logits to that of the head's input.
  void pass_back_piece(int64_t first, int64_t rows);
  void backward_layer(const PassShape& shape, const EncodingValues& values, double dropout, int64_t index);
  void find_gains();
  /// Adds the gradient of x, by `keys`, to that of a table whose rows were added up to make it.
  void learn_rows(const PassShape& shape, double dropout, const int32_t* keys, const int32_t* order, float* d_table);
  void sum_gains(int64_t capacity, const float* parts, const at::Tensor& gains);
  /// Rows of the encoding's values by position, for every token.
  void gather_values(const PassShape& shape, const EncodingValues& values);
  /// Biases of pairs as attention reads them fastest; before attention() is asked for in a pass.
  void map_pairs(const PassShape& shape, const EncodingValues& values);
  void learn_encoding(const PassShape& shape, const EncodingValues& values, double dropout);
  void learn_scales(const PassShape& shape, const EncodingValues& values, EncodingGradients& gradients) const;
  /// The row of the encoding's values that belongs to each token.
  const int32_t* places(const EncodingValues& values) const {
    return values.by_token ? token_index_ : batch_.positions;
  }
  void probe(const EncodingValues& values);

  Decoder& decoder_;
  at::Tensor mirror_;
  gpu::Storage storage_;
  bool training_;
  int64_t head_rows_;  ///< of a piece
  cudaStream_t stream_;
  Products products_;
  Attend attend_;
  std::optional<SideStream> side_;  ///< in training: gradients of weights
  /// What belongs to every token of the batch: cos and sin [token, pair] of queries and of keys, factors [token, head].
  struct TokenValues {
    bool turns = false, turns_keys = false, scales = false;
    float *cos = nullptr, *sin = nullptr, *key_cos = nullptr, *key_sin = nullptr, *query_scale = nullptr;
  };
  std::vector<TokenValues> token_values_;  ///< by entry of the encoding's values
  bool tables_learn_ = false, scales_learn_ = false, addition_learns_ = false, decays_ = false;
  bool keeps_sums_ = false;  ///< a gain is too small for a norm's input to be told from its result
  PassShape room_;
  DeviceMemory state_memory_;
  std::optional<DeviceMemory> memory_;

  gpu::StepState* state_ = nullptr;
  at::Tensor step_seed_;  ///< [1] int64: a view of the state's seed
  gpu::DeviceBatch batch_;
  std::vector<void*> streams_;      ///< [token] int64 or double, by rule
  int32_t* token_index_ = nullptr;  ///< 0, 1, 2, ...; where values may belong to tokens
  std::vector<Layer> layers_;
  /// The residual stream, of all tokens and, from the last layer's middle on, of targets. Every norm adds to it in
  /// place, and the backward pass reads what they saw from their results. Where a gain is 0 or close to it when the
  /// passes are made (gpu_kernels/norm.h: kSmallGain), every norm leaves its sum in a buffer of its own instead, and
  /// the backward pass reads these columns from there.
  float *h_ = nullptr, *h_rows_ = nullptr;
  float *inverse_final_ = nullptr, *losses_ = nullptr;
  float* logits_ = nullptr;  ///< of a piece, as d_logits_ is
  int32_t *plan_ = nullptr, *best_ = nullptr, *token_order_ = nullptr, *position_order_ = nullptr;
  uint64_t* sort_scratch_ = nullptr;
  void *branch_ = nullptr, *mixed_rows_ = nullptr, *head_ = nullptr;
  // Of the backward pass.
  void *d_logits_ = nullptr, *d_head_ = nullptr, *d_normed_ = nullptr, *d_mixed_ = nullptr, *d_mixed_rows_ = nullptr;
  LayerGradients d_layers_[2];  ///< of even and of odd layers
  float *d_h_ = nullptr, *d_h_rows_ = nullptr, *delta_ = nullptr, *token_gain_parts_ = nullptr,
        *target_gain_parts_ = nullptr, *borders_ = nullptr, *table_parts_ = nullptr,
        *d_query_scale_ = nullptr;  ///< [layer, token, head], layers by their place (FusedValues)
  float *d_key_bias_ = nullptr, *constant_parts_ = nullptr;  ///< [token, head]; [layer, sequence, head]
  std::vector<at::Tensor> dense_maps_;      ///< by entry, of one pass (attention_dense_map); undefined: none
  std::vector<at::Tensor> d_dense_;         ///< by entry, of one pass: [part, head, place, place], all its layers' sum
  at::Tensor score_gradients_;              ///< scratch of a layer at a time (attention_score_gradients_size)
  std::vector<at::Tensor> padded_weights_;  ///< by layer
  at::Tensor padded_gradient_;              ///< of the layer at hand, on the second stream
  at::Tensor product_gradients_, product_squares_;
  at::Tensor token_gains_, target_gains_;  ///< places in the gradient arena, as device pointers
};

}  // namespace lengthwise
