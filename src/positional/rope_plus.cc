#include <ATen/ATen.h>

#include "core/error.h"
#include "positional/own_attention.h"
#include "positional/rotation.h"

namespace lengthwise {
namespace {

/// RoPE's score is the real part of a complex product; RoPE++ has heads with its imaginary part too:
///
///     real head:       S_ij = scale Re(sum over c of q_ic conj(k_jc) e^(i (i-j) w_c)) = scale <R(i) q_i, R(j) k_j>
///     imaginary head:  S_ij = scale Im(the same) = scale <R(i) R(-pi/2) q_i, R(j) k_j>
///
/// with the queries, keys and values of a real head: with queries of its own it could not be told from a real one.
/// The paper has two forms. One doubles the heads and the matrix behind them; in ours, its "equal heads", heads stay as
/// many as they are, and the second half of them are the imaginary ones of the first: columns of the
/// query-key-value product that belonged to them are not read. Of an odd number of heads one has no imaginary one.
class RopePlus : public RotaryEncoding {
 public:
  RopePlus(const EncodingArguments& arguments, const EncodingShape& shape)
      : RotaryEncoding(full_frequencies(arguments, shape), shape), imaginary_(shape.heads / 2) {
    if (shape.heads < 2 || shape.head_dim % 2 != 0)
      fail("rope-plus: needs two heads or more, of an even number of dims");
  }

  bool attends(int64_t) const override { return true; }

  AttentionView attend(int64_t, const PaddedHeads& heads, const LayerValues& values, const EncodingContext&,
                       double scale, const at::Tensor& mask) const override {
    const int64_t real = heads.q.size(1) - imaginary_;
    const auto first = [](const at::Tensor& x, int64_t count) { return x.narrow(1, 0, count); };
    const auto twice = [&](const at::Tensor& x) { return at::cat({first(x, real), first(x, imaginary_)}, 1); };
    // (a, b) turned by -pi/2 is (b, -a), before or after any other turn.
    const at::Tensor pairs = first(heads.q, imaginary_).unflatten(-1, {-1, 2});
    const at::Tensor turned = at::stack({pairs.select(-1, 1), -pairs.select(-1, 0)}, -1).flatten(-2);
    PaddedHeads both = heads;
    both.q = at::cat({first(heads.q, real), turned}, 1);
    both.k = twice(heads.k);
    both.v = twice(heads.v);
    return plain_attention(both, values, scale, mask);
  }

 private:
  int64_t imaginary_;
};

}  // namespace

extern const EncodingEntry rope_plus_encoding{
    .info = {.name = "rope-plus",
             .label = "RoPE++",
             .family = "rotation",
             .formula =
                 "half of the heads: RoPE; the others: the same queries, keys and values, queries turned by -pi/2",
             .paper = "Liu et al. 2025 (2512.07525)",
             .aliases = {"rope-pp", "rope-plus-plus"}},
    .options = {base_option()},
    .make = [](const EncodingArguments& arguments, const EncodingShape& shape, EncodingParameters)
        -> std::unique_ptr<Encoding> { return std::make_unique<RopePlus>(arguments, shape); }};

}  // namespace lengthwise
