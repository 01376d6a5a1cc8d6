#pragma once
/// What theory says of decoders, as weights that run: each construction sets the weights of a real decoder of this
/// program, passes sequences through the ordinary forward pass and says how far the result is from what was predicted.
///
/// A construction is one file and one line in registry.cc.
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "model/decoder.h"

namespace lengthwise {

struct TheoryOptions {
  int64_t length = 64;  ///< tokens of the longest sequence
  std::vector<std::string> precisions = {"fp64", "fp32", "bf16"};
  std::vector<std::string> decoders = {"norm-free", "tiny", "base"};
};

/// One measurement.
struct Finding {
  std::string construction = {};
  std::string decoder;  ///< norm-free; tiny and base: the study's decoder in these shapes
  int64_t length = 0;
  std::string precision = {};  ///< fp64, fp32 or bf16 (operands of matrix products, as in training)
  double max_error = 0;        ///< from what the construction is for, over all positions
  bool as_predicted = false;
  std::vector<std::pair<std::string, double>> values = {};  ///< anything else that was measured, by name
  std::string note = {};
};

struct Construction {
  const char* name;
  const char* summary;
  std::vector<Finding> (*measure)(const TheoryOptions&);
};

/// The list.
std::span<const Construction> constructions();

/// An unknown name is a UserError with the nearest known one.
const Construction& find_construction(std::string_view name);

/// A decoder without positional encoding for constructed weights, in one of the named shapes: `norm-free` is as small
/// as the length allows and has no norms; `tiny` and `base` are the presets. `options` override the shape afterwards.
struct TheoryShape {
  std::string decoder = "norm-free";
  std::string precision = "fp64";
  int64_t units = 0;  ///< feed-forward; 0: the shape's, or as many as `length` for norm-free
  std::string encoding = "nope";
  double rotary_fraction = 0.25;
};
std::unique_ptr<Decoder> make_theory_decoder(const TheoryShape& shape, int64_t length);

/// Whether this shape has enough feed-forward units for positions up to `length`.
bool has_room(const std::string& decoder, int64_t length);

/// A first token (row 1 of the embedding, `<bos>`) and random others, never the first one again.
std::vector<int64_t> random_sequence(int64_t length, int64_t rows, uint64_t seed);
inline constexpr int64_t kFirstToken = 1;

Arithmetic arithmetic_of_theory(const std::string& precision);

/// Bounds that errors of a construction must keep at a precision to count as predicted: rounding of 1/t moves t by
/// about t^2 times the rounding of 1/t.
double expected_error(const std::string& precision, int64_t length);

}  // namespace lengthwise
