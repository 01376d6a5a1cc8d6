#include <ATen/ATen.h>

#include <cmath>

#include "positional/entry.h"
#include "positional/formulas.h"

namespace lengthwise {
namespace {

/// The logarithm of a generalised Gaussian over distances, which is the prior that attention weighs its keys by:
///
///     S_ij -= a (i - j)^b,   a starts at ALiBi's slopes
///
/// With b = 1 it is ALiBi, and near 0 nearly no encoding at all. As in the released code all layers share it, and it is
/// centred at the query itself (the paper's other parameter, which that code leaves frozen). The code learns b itself
/// and adds 1e-5 to the distance, which keeps an exponent below 0 finite; here b is learned through its logarithm, as a
/// is, and cannot get there. The paper's scalable softmax is an encoding of its own:
/// `bam+ssmax(of=all)` scales the prior too, as its code does, and `bam+ssmax` the content alone.
class Bam : public Encoding {
 public:
  Bam(const EncodingArguments& arguments, const EncodingShape& shape, EncodingParameters parameters) {
    std::vector<double> factors;
    for (const double slope : alibi_slopes(shape.heads)) factors.push_back(std::log(slope));
    log_factor_ = &parameters.add("log_factor", {shape.heads}, Initial::given(factors), /*decay=*/false);
    log_exponent_ = &parameters.add("log_exponent", {shape.heads},
                                    Initial::all(std::log(arguments.number("exponent", 0.001, 10))), /*decay=*/false);
  }

  LayerValues layer(int64_t, const EncodingContext& context) const override {
    LayerValues values;
    values.table = power_table(log_factor_->value.exp(), log_exponent_->value.exp(), context.distances);
    return values;
  }

 private:
  Parameter *log_factor_, *log_exponent_;
};

}  // namespace

extern const EncodingEntry bam_encoding{
    .info = {.name = "bam",
             .label = "BAM",
             .family = "bias",
             .formula = "S_ij -= a[head] (i - j)^b[head], a starts at ALiBi's slopes",
             .paper = "Bianchessi et al. 2025 (2505.22842)",
             .learned = "two numbers per head, shared by all layers"},
    .options = {{"exponent", "1", "of the distance, where training starts; 1 is ALiBi"}},
    .make = [](const EncodingArguments& arguments, const EncodingShape& shape, EncodingParameters parameters)
        -> std::unique_ptr<Encoding> { return std::make_unique<Bam>(arguments, shape, parameters); }};

}  // namespace lengthwise
