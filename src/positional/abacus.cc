#include <ATen/ATen.h>

#include "positional/entry.h"

namespace lengthwise {
namespace {

/// A learned vector for the place of a digit within its number, counted from its first digit; all that is no digit has
/// the vector 0 of the table:
///
///     x_t += table[a_t],   a_t = 0 for what is no digit, otherwise 1 + place of the digit in its number + k
///
/// k is 0 in evaluation, and in training a random number up to `shift`, one for a whole step as in the released code
/// (others draw one for each sequence), so that the places of longer numbers are trained. The places mean significance
/// only where numbers are written least significant digit first (addition-reversed). Goes together with anything:
/// abacus+rope, abacus+fire. Numbers are runs of digits (data/placing.h), also in what is being written.
class Abacus : public Encoding {
 public:
  Abacus(const EncodingArguments& arguments, const EncodingShape& shape, EncodingParameters parameters)
      : rule_{.kind = PositionKind::digits, .max = arguments.whole("max", 2, 65536)} {
    rule_.shift = arguments.whole("shift", 0, rule_.max - 2);
    table_ = &parameters.add("places", {rule_.max, shape.width}, Initial::normal(1.0));
  }

  at::Tensor addition(const EncodingContext& context) const override {
    return table_->value.index_select(0, context.stream(rule_).positions);
  }

  void add_rules(std::vector<PositionRule>& rules) const override { rules.push_back(rule_); }

 private:
  PositionRule rule_;
  Parameter* table_;
};

}  // namespace

extern const EncodingEntry abacus_encoding{
    .info = {.name = "abacus",
             .label = "Abacus",
             .family = "positions",
             .formula = "x_t += table[place of the digit in its number + k], table[0] for what is no digit",
             .paper = "McLeish et al. 2024 (2405.17399)",
             .learned = "max x width"},
    .options = {{"max", "128", "rows of the table; longer numbers are refused"},
                {"shift", "99", "k is drawn up to it in training"}},
    .make = [](const EncodingArguments& arguments, const EncodingShape& shape, EncodingParameters parameters)
        -> std::unique_ptr<Encoding> { return std::make_unique<Abacus>(arguments, shape, parameters); }};

}  // namespace lengthwise
