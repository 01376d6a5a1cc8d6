#pragma once
/// What forgetting attention and CABLE share: a gate per head and token that counts against every key before it.
///
///     z_t = <w_h, x_t> + b_h
///     S_ij += F_i - F_j,   F_t = sum over s <= t of ln sigmoid(sign z_s)
///
/// F_i is the same for every key of a row and the softmax removes it: -F_j is stated, as a bias of the key. w is the
/// encoding's columns of the query-key-value product, b a parameter of each layer.
#include <vector>

#include "positional/entry.h"

namespace lengthwise {

class Forgetting : public Encoding {
 public:
  /// The option `bias` is what b starts at.
  Forgetting(double sign, const EncodingArguments& arguments, const EncodingShape& shape,
             EncodingParameters parameters);

  LayerValues layer(int64_t index, const EncodingContext& context) const override;
  std::optional<KeyDecay> decay(int64_t layer) const override;
  std::vector<NormalBlock> features(int64_t layer) const override;

 private:
  double sign_;
  NormalBlock gates_;
  std::vector<Parameter*> bias_;  ///< [head], by layer
};

}  // namespace lengthwise
