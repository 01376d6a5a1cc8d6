#pragma once
/// RoPE that places far keys elsewhere, for models that were trained with RoPE on shorter sequences:
///
///     S_ij = scale <R(i) q_i, R(j) k_j>          where i - j < window
///            scale <R(f(i)) q_i, R(g(j)) k_j>    elsewhere
///
/// A key is near to one query and far from another, so it is kept as it is and turned in both ways whenever it is
/// looked at: attention of its own, two products instead of one.
#include "positional/entry.h"

namespace lengthwise {

class NearFarRotary : public Encoding {
 public:
  /// With the options `window`, `fraction` and `base`.
  NearFarRotary(const EncodingArguments& arguments, const EncodingShape& shape);

  bool attends(int64_t) const override { return true; }
  AttentionView attend(int64_t layer, const PaddedHeads& heads, const LayerValues& values,
                       const EncodingContext& context, double scale, const at::Tensor& mask) const override;

 protected:
  double window() const { return static_cast<double>(window_); }

 private:
  /// f and g, of positions in double.
  virtual at::Tensor far_query(const at::Tensor& positions) const = 0;
  virtual at::Tensor far_key(const at::Tensor& positions) const = 0;

  /// <R(i) q_i, R(j) k_j> [batch, head, query, key] for queries and keys at these places.
  at::Tensor compare(const PaddedHeads& heads, const at::Tensor& queries, const at::Tensor& keys) const;

  int64_t window_;
  at::Tensor frequencies_;  ///< [pair] double
};

/// `window`, the options given, and those of RoPE as it was trained.
std::vector<EncodingOption> near_far_options(std::vector<EncodingOption> options);

}  // namespace lengthwise
