#include <ATen/ATen.h>

#include <limits>

#include "positional/entry.h"
#include "positional/own_attention.h"

namespace lengthwise {
namespace {

/// Each earlier token, the nearest first, breaks its share off what is left of a stick, in place of the softmax:
///
///     A_ij = sigmoid(S_ij) prod over j < k < i of (1 - sigmoid(S_ik)),   j < i
///     ln A_ij = S_ij - sum over j <= k < i of softplus(S_ik)
///
/// The token itself takes no part, and gets the rest of the stick, as in the models of the authors; public codes also
/// drop the rest (`rest=drop`), and the rows of weights then add up to less than 1, the first one to 0.
class StickBreaking : public Encoding {
 public:
  explicit StickBreaking(const EncodingArguments& arguments) {
    const std::string rest = arguments.text("rest");
    if (rest != "self" && rest != "drop") arguments.refuse("rest", "self or drop");
    keeps_rest_ = rest == "self";
  }

  bool attends(int64_t) const override { return true; }

  AttentionView attend(int64_t, const PaddedHeads& heads, const LayerValues& values, const EncodingContext&,
                       double scale, const at::Tensor& mask) const override {
    const at::Tensor own = own_keys(heads);
    const at::Tensor seen = seen_keys(heads, values.window);
    const at::Tensor others = (seen & own.logical_not()).logical_not();  // than keys that break off a share
    const at::Tensor all = own_scores(content_scores(heads, scale), heads, values, scale);
    const at::Tensor scores = all.masked_fill(others, 0);
    // at::softplus is x itself from 20 on, which is too rough in double: shares would not add up to the stick.
    const at::Tensor broken = sums_from(-at::log_sigmoid(-scores).masked_fill(others, 0));
    AttentionView view;
    view.scores = all.masked_fill(seen.logical_not(), -std::numeric_limits<double>::infinity());
    view.weights = at::exp(scores - broken).masked_fill(others, 0);
    if (keeps_rest_) {
      const at::Tensor rest = at::exp(-broken.narrow(-1, 0, 1));
      view.weights = view.weights + rest.masked_fill(own.logical_not(), 0);
    }
    view.out = at::matmul(mask.defined() ? view.weights * mask : view.weights, heads.v);
    return view;
  }

 private:
  bool keeps_rest_ = true;
};

}  // namespace

extern const EncodingEntry stick_breaking_encoding{
    .info = {.name = "stick-breaking",
             .label = "Stick-breaking",
             .family = "content",
             .formula = "A_ij = sigmoid(S_ij) prod over j < k < i of (1 - sigmoid(S_ik)), the rest for i itself",
             .paper = "Tan et al. 2024 (2410.17980)"},
    .options = {{"rest", "self", "who gets what no earlier token took: self, or drop for nobody"}},
    .make = [](const EncodingArguments& arguments, const EncodingShape&,
               EncodingParameters) -> std::unique_ptr<Encoding> { return std::make_unique<StickBreaking>(arguments); }};

}  // namespace lengthwise
