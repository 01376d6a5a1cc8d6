#include <ATen/ATen.h>

#include "core/error.h"
#include "positional/entry.h"
#include "positional/formulas.h"

namespace lengthwise {
namespace {

class Sinusoidal : public Encoding {
 public:
  explicit Sinusoidal(const EncodingShape& shape) : shape_(shape) {
    if (shape.width % 2 != 0) fail("the sinusoidal encoding needs an even --width, not {}", shape.width);
  }

  at::Tensor embedding_addition(const at::Tensor& positions) const override {
    return sinusoids(positions, shape_.width).to(shape_.type);
  }

 private:
  EncodingShape shape_;
};

}  // namespace

extern const EncodingEntry sinusoidal_encoding{
    .info = {.name = "sinusoidal",
             .label = "Sinusoidal",
             .family = "embedding",
             .formula = "x_t += [sin(t w_c), cos(t w_c)], w_c = 10000^(-2c/width)",
             .paper = "Vaswani et al. 2017 (1706.03762)",
             .translation_invariant = false,
             .absolute = true,
             .aliases = {"ape", "absolute", "sinusoid"}},
    .make = [](const EncodingArguments&, const EncodingShape& shape, EncodingParameters) -> std::unique_ptr<Encoding> {
      return std::make_unique<Sinusoidal>(shape);
    }};

}  // namespace lengthwise
