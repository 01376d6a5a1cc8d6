#include <ATen/ATen.h>

#include <cmath>

#include "positional/entry.h"
#include "positional/own_attention.h"

namespace lengthwise {
namespace {

constexpr int64_t kTaps = 3;
constexpr double kNormEpsilon = 1e-6;

/// Every token between key and query reflects the key, by as much as it says:
///
///     S_ij = scale <q_i, H_i ... H_(j+1) k_j>,   H_t = I - beta_t w_t w_t^T
///     w = SiLU(convolution of 3 tokens (W_2 W_1 x)), to length 1 in each head;   beta = 2 sigmoid(u x + c)
///
/// As H_i ... H_(j+1) k_j = k_j - sum over j < s <= i of w_s A_sj with A_sj = beta_s <w_s, k_j - sum over j < r < s of
/// w_r A_rj>, all of A is one triangular system, (I + tril(beta W W^T, -1)) A = tril(beta W K^T, -1), and the scores
/// are Q K^T - tril(Q W^T) A.
///
/// W_1 and u are the encoding's columns of the query-key-value product. Without the forgetting gate of "PaTH-FoX":
/// `path+fox` adds it, outside the scale.
class Path : public Encoding {
 public:
  Path(const EncodingArguments& arguments, const EncodingShape& shape, EncodingParameters parameters)
      : heads_(shape.heads), width_(shape.width), rank_(arguments.whole("rank", 1, 4096)) {
    const int64_t channels = shape.heads * shape.head_dim;
    const auto rsqrt = [](int64_t x) { return Initial::normal(1.0 / std::sqrt(static_cast<double>(x))); };
    for (int64_t index = 0; index < shape.layers; ++index) {
      EncodingParameters own = parameters.part(std::to_string(index));
      layers_.push_back({&own.add("directions", {rank_, channels}, rsqrt(rank_)),
                         &own.add("convolution", {kTaps, channels}, rsqrt(kTaps)),
                         &own.add("bias", {shape.heads}, Initial::all(0), /*decay=*/false)});
    }
  }

  std::vector<NormalBlock> features(int64_t) const override {
    return {{rank_ + heads_, 1.0 / std::sqrt(static_cast<double>(width_))}};
  }

  bool attends(int64_t) const override { return true; }

  AttentionView attend(int64_t layer, const PaddedHeads& heads, const LayerValues& values,
                       const EncodingContext& context, double scale, const at::Tensor& mask) const override {
    const Layer& own = layers_[static_cast<size_t>(layer)];
    const at::Tensor directions = at::silu(short_convolution(
        at::matmul(context.key_features.narrow(-1, 0, rank_), own.directions->value), own.convolution->value));
    at::Tensor w = directions.unflatten(-1, {heads_, -1}).transpose(1, 2);  // [batch, head, key, dim]
    w = w * at::rsqrt(w.square().sum(-1, true) + kNormEpsilon);
    const at::Tensor beta = 2 * at::sigmoid(context.key_features.narrow(-1, rank_, heads_) + own.bias->value);
    const at::Tensor weighted = w * beta.transpose(1, 2).unsqueeze(-1);
    // The solution takes the ones of the diagonal for granted.
    const at::Tensor system = at::matmul(weighted, w.transpose(-1, -2)).tril(-1);
    const at::Tensor right = at::matmul(weighted, heads.k.transpose(-1, -2)).tril(-1);
    const at::Tensor reflected = at::linalg_solve_triangular(system, right, /*upper=*/false, /*left=*/true,
                                                             /*unitriangular=*/true);
    const at::Tensor met = at::matmul(heads.q, w.transpose(-1, -2)).masked_fill(heads.allowed.logical_not(), 0);
    const at::Tensor content = at::matmul(heads.q, heads.k.transpose(-1, -2)) - at::matmul(met, reflected);
    return attend_by(content * scale, heads, values, scale, mask);
  }

 private:
  struct Layer {
    Parameter *directions, *convolution, *bias;  ///< [rank, head * dim], [tap, head * dim], [head]
  };

  int64_t heads_, width_, rank_;
  std::vector<Layer> layers_;
};

}  // namespace

extern const EncodingEntry path_encoding{
    .info = {.name = "path",
             .label = "PaTH",
             .family = "content",
             .formula = "S_ij = <q_i, H_i ... H_(j+1) k_j>, H_t = I - beta_t w_t w_t^T of x_t",
             .paper = "Yang et al. 2025 (2505.16381)",
             .learned = "rank x (width + heads x dims), 3 x heads x dims, width x heads and heads, in each layer"},
    .options = {{"rank", "32", "of the directions' projection"}},
    .make = [](const EncodingArguments& arguments, const EncodingShape& shape, EncodingParameters parameters)
        -> std::unique_ptr<Encoding> { return std::make_unique<Path>(arguments, shape, parameters); }};

}  // namespace lengthwise
