#pragma once
/// Rotations by position times frequency: RoPE and all that differs from it in the frequencies alone.
///
///     pair c of a query or key at position t turns by t w_c
///
/// Pairs are (2c, 2c+1), as in the paper; the other common layout, (c, c + d/2), is a fixed permutation of the dims,
/// which no model that learns its own weights can tell. Angles are made in double from the positions.
#include "positional/entry.h"

namespace lengthwise {

/// cos and sin [token, pair] of position * frequency [pair] (double), times `factor` [token, pair] where it is
/// defined. Without frequencies: no rotation.
Rotation turned(const at::Tensor& positions, const at::Tensor& frequencies, at::ScalarType type,
                const at::Tensor& factor = {});

/// Queries and keys of all layers turn alike, with frequencies that stay.
class RotaryEncoding : public Encoding {
 public:
  /// `frequencies` [pair] double, on the shape's device; dims beyond the pairs are not turned.
  RotaryEncoding(at::Tensor frequencies, const EncodingShape& shape);

  LayerValues layer(int64_t index, const EncodingContext& context) const override;

 private:
  at::Tensor frequencies_;
  at::ScalarType type_;
};

/// The option `base` of the frequencies base^(-2c/d).
EncodingOption base_option();
double rotary_base(const EncodingArguments& arguments);

/// Frequencies over all pairs of a head, with the option `base`: [pair] double.
at::Tensor full_frequencies(const EncodingArguments& arguments, const EncodingShape& shape);

/// RoPE as it was trained, for encodings that change its frequencies afterwards: the options `fraction` and `base`,
/// with the defaults of `rope`, so that `eval --encoding 'yarn(factor=4)'` fits a run with `rope`.
struct TrainedRotation {
  int64_t width = 0;  ///< dims that turn
  double base = 0;
  at::Tensor frequencies;  ///< [width / 2] double, over the rotated width as in the study
};
TrainedRotation trained_rotation(const EncodingArguments& arguments, const EncodingShape& shape);
/// `fraction`, `base`, after the options given.
std::vector<EncodingOption> trained_rotation_options(std::vector<EncodingOption> options = {});

/// The option `factor`: how many times longer than in training sequences are to be.
EncodingOption factor_option(const std::string& fallback = "4");
double factor_of(const EncodingArguments& arguments);

}  // namespace lengthwise
