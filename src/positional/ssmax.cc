#include <ATen/ATen.h>

#include "kernels/attention_parts.h"
#include "positional/head_scales.h"
#include "positional/own_attention.h"

namespace lengthwise {
namespace {

/// Scalable softmax, in which e^x becomes n^(s x), n the number of keys a query sees:
///
///     S_ij times s[layer, head] ln(i + 1)
///
/// s starts as in the paper at 0.168, one over the mean of ln n for n to its 1,024 tokens; for sequences of some tens
/// of tokens that is flatter than the softmax at the start, which is learned away. Public codes start at 0.43 (the
/// value of a figure) or 1. Codes disagree: some take the length of the sequence for n, which does not vary in
/// training; one subtracts s ln n from every score, which does nothing. The paper's bias to s ln n is left out, which
/// it says harms longer sequences.
///
/// In a sum, `of=content` scales <q_i, k_j> alone, as all temperatures here do, and biases stay what they are: the
/// paper has no biases. `of=all` scales scores with their biases, as BAM does with it (`bam+ssmax(of=all)`); that is
/// attention of its own, by plain tensor operations.
class ScalableSoftmax : public HeadScales {
 public:
  ScalableSoftmax(const EncodingArguments& arguments, const EncodingShape& shape, EncodingParameters parameters)
      : HeadScales(arguments, shape, parameters) {
    const std::string of = arguments.text("of");
    if (of != "content" && of != "all") arguments.refuse("of", "content or all");
    all_ = of == "all";
  }

  LayerValues layer(int64_t index, const EncodingContext& context) const override {
    LayerValues values;
    if (!all_) values.query_scale = factors(index, context.positions, context);
    return values;
  }

  bool attends(int64_t) const override { return all_; }

  AttentionView attend(int64_t layer, const PaddedHeads& heads, const LayerValues& values,
                       const EncodingContext& context, double scale, const at::Tensor& mask) const override {
    const at::Tensor scores = own_scores(content_scores(heads, scale), heads, values, scale);
    const at::Tensor by_query = factors(layer, context.query_positions, context).movedim(-1, 1).unsqueeze(-1);
    return softmax_attention(scores * by_query, heads, values.window, mask);
  }

 private:
  at::Tensor by_position(const at::Tensor& positions, at::ScalarType type) const override {
    return at::log1p(positions.to(at::kDouble)).to(type);
  }

  bool all_ = false;
};

}  // namespace

extern const EncodingEntry ssmax_encoding{
    .info = {.name = "ssmax",
             .label = "SSMax",
             .family = "temperature",
             .formula = "S_ij times s[layer, head] ln(i + 1)",
             .paper = "Nakanishi 2025 (2501.19399)",
             .learned = "s per layer and head",
             .translation_invariant = false,
             .aliases = {"scalable-softmax"}},
    .options = {{"start", "0.168", "s before training; the paper's is 1 / mean of ln n for n to 1024"},
                {"of", "content", "what is scaled in a sum: content, or all for biases too"}},
    .make = [](const EncodingArguments& arguments, const EncodingShape& shape, EncodingParameters parameters)
        -> std::unique_ptr<Encoding> { return std::make_unique<ScalableSoftmax>(arguments, shape, parameters); }};

}  // namespace lengthwise
