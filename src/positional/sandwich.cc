#include <ATen/ATen.h>

#include "positional/entry.h"
#include "positional/formulas.h"

namespace lengthwise {
namespace {

/// The product of two sinusoidal embeddings of positions, which depends on their distance alone:
///
///     S_ij += (H / 8h) sum_c (cos((i - j) 10000^(-2c/D)) - 1),   c = 0..D/2-1, heads h = 1..H
///
/// Ports disagree about c: 0..D/2-1, as the sinusoids that the paper starts from, or 1..D/2, another curve (-1.91 or
/// -1.45 at distance 1). Ours is the first. The -1, which makes the bias 0 at distance 0, is a constant of each row
/// that the softmax removes; without it the table would be large where its differences are small.
class Sandwich : public Encoding {
 public:
  Sandwich(const EncodingArguments& arguments, const EncodingShape& shape) : type_(shape.type) {
    const int64_t dims = arguments.whole("dims", 2, 65536);
    if (dims % 2 != 0) arguments.refuse("dims", "even");
    frequencies_ = geometric_frequencies(dims, 10000, shape.device);
    const at::Tensor head = at::arange(1, shape.heads + 1, frequencies_.options());
    factors_ = static_cast<double>(shape.heads) / 8 / head;
  }

  LayerValues layer(int64_t, const EncodingContext& context) const override {
    const at::Tensor distance = at::arange(context.distances, frequencies_.options());
    const at::Tensor curve = (at::cos(distance.unsqueeze(1) * frequencies_) - 1).sum(1);
    LayerValues values;
    values.table = (factors_.unsqueeze(1) * curve).to(type_);
    return values;
  }

 private:
  at::ScalarType type_;
  at::Tensor frequencies_;  ///< [plane] double
  at::Tensor factors_;      ///< [head] double
};

}  // namespace

extern const EncodingEntry sandwich_encoding{
    .info = {.name = "sandwich",
             .label = "Sandwich",
             .family = "bias",
             .formula = "S_ij += (H / 8h) sum_c cos((i - j) w_c), w_c as in sinusoidal",
             .paper = "Chi et al. 2023 (2212.10356)"},
    .options = {{"dims", "128", "width of the sinusoids, two dims for each cosine"}},
    .make = [](const EncodingArguments& arguments, const EncodingShape& shape, EncodingParameters)
        -> std::unique_ptr<Encoding> { return std::make_unique<Sandwich>(arguments, shape); }};

}  // namespace lengthwise
