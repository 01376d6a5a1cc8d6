#pragma once
/// The shape of a model: of a decoder with its encoding, or of a recurrent network. Defaults are the paper's decoder
/// (section 1 of its protocol).
#include <cstdint>
#include <string>

#include "positional/encoding.h"
#include "positional/entry.h"

namespace lengthwise {

/// Options of encodings under the names that they have on the command line besides `--encoding 'rope(fraction=1)'`.
struct EncodingConfig {
  double rotary_fraction = 0.25;
  double rotary_base = 10000;
  int64_t t5_buckets = 32;
  int64_t t5_max_distance = 128;
  int64_t max_positions = 2048;

  template <class Visitor>
  void visit(Visitor&& field) {
    field("rotary-fraction", rotary_fraction, "share of a head that RoPE rotates; the paper's code uses 0.25");
    field("rotary-base", rotary_base, "base of RoPE's geometric frequencies");
    field("t5-buckets", t5_buckets, "buckets of the T5 relative bias");
    field("t5-max-distance", t5_max_distance, "distance from which the T5 bias has one bucket");
    field("max-positions", max_positions, "rows of the learned position table; longer sequences are refused");
  }
};

/// What --architecture says in help texts: the list of architectures.h.
const char* architectures_help();

struct ModelConfig {
  std::string architecture = "decoder";
  std::string model = "tiny";
  int64_t layers = 0;  ///< 0 here and below: the preset's
  int64_t width = 0;
  int64_t heads = 0;
  int64_t head_dim = 0;
  int64_t ff_width = 0;
  double dropout = -1;
  std::string score_scale = "preset";
  std::string norm = "rms";
  int64_t vocab_rows = 0;
  std::string encoding;  ///< empty: nope, and of a recurrent network always
  EncodingConfig encoding_options;
  int64_t hidden = 0;
  std::string like;
  std::string periods;
  /// Not chosen but found in the training data, and kept with the run (EncodingShape); 0: not known.
  int64_t trained_length = 0, trained_room = 0;

  bool is_decoder() const { return architecture == "decoder"; }
  /// What runs are compared by: the encoding of a decoder, the architecture of anything else.
  const std::string& compared() const { return is_decoder() ? encoding : architecture; }

  template <class Visitor>
  void visit(Visitor&& field) {
    field("architecture", architecture, architectures_help());
    field("model", model, "preset of sizes: tiny, small or base (the paper's 12 layers of 768)");
    field("layers", layers, "layers; 0: the preset's (tiny: 2; base: 12), and 1 of a recurrent network");
    field(
        "width", width,
        "width of the residual stream, or of a recurrent network's embedding; 0: the preset's (tiny: 128; base: 768)");
    field("heads", heads, "attention heads; 0: the preset's (tiny: 4; base: 12)");
    field("head-dim", head_dim, "width of a head; 0: the preset's, or width / heads");
    field("ff-width", ff_width, "hidden width of the feed-forward; 0: the preset's (tiny: 512; base: 3,072)");
    field("dropout", dropout, "dropout probability at all six places; -1: the preset's (tiny: 0; base: 0.1)");
    field("score-scale", score_scale,
          "factor of attention scores: none (as T5 and the paper), rsqrt (1/sqrt(head-dim)), or the preset's (tiny: "
          "rsqrt; base: none)");
    field(
        "norm", norm,
        "normalisation before attention, feed-forward and head: rms (the paper's), or none, which constructed weights "
        "can do with; runs through the plain decoder");
    field("vocab-rows", vocab_rows, "rows of the embedding; 0: as many as the vocabulary has");
    field("encoding", encoding,
          "positional encoding of a decoder, as rope, 'rope(fraction=1)', alibi+window or 'layers(rope,nope)'; by "
          "default nope; `lengthwise encodings` lists them");
    encoding_options.visit(field);
    field("hidden", hidden,
          "units of each layer of a recurrent network; 0: as many as give it the parameters of the decoder --like");
    field("like", like,
          "preset of the decoder that a recurrent network has as many parameters as: tiny, small or base; by default "
          "that of --model");
    field("periods", periods,
          "clock periods of the modules of a clockwork network, as 1,2,4 (each more than the last); by default "
          "1,2,4,8,16,32");
  }
};

/// The configuration with every 0 replaced by the preset's number; checks that the numbers fit together.
ModelConfig resolve(const ModelConfig& config, int64_t vocabulary_size);

/// The encoding's one text (positional/named.h), with what the options beside it say; these have their defaults then.
void fold_encoding(ModelConfig& config);

EncodingShape encoding_shape(const ModelConfig& config, at::ScalarType type, at::Device device);

/// What the encoding of a resolved configuration states (ValueKind).
uint32_t kinds_of(const ModelConfig& config);

/// 1, or 1 / sqrt(head_dim).
double score_scale_of(const ModelConfig& config);

}  // namespace lengthwise
