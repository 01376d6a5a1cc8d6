#include <ATen/ATen.h>

#include "core/error.h"
#include "positional/registry.h"

namespace lengthwise {
namespace {

class Sinusoidal : public Encoding {
 public:
  explicit Sinusoidal(const EncodingShape& shape) : shape_(shape) {
    if (shape.width % 2 != 0) fail("the sinusoidal encoding needs an even --width, not {}", shape.width);
  }

  const EncodingInfo& info() const override {
    static const EncodingInfo info{.name = "sinusoidal",
                                   .formula = "x_t += [sin(t w_c), cos(t w_c)], w_c = 10000^(-2c/width)",
                                   .paper = "Vaswani et al. 2017 (1706.03762)",
                                   .learned = "none",
                                   .translation_invariant = false,
                                   .absolute = true};
    return info;
  }

  at::Tensor embedding_addition(const at::Tensor& positions) const override {
    return sinusoids(positions, shape_.width).to(shape_.type);
  }

 private:
  EncodingShape shape_;
};

}  // namespace

std::unique_ptr<Encoding> make_sinusoidal(const EncodingConfig&, const EncodingShape& shape, Parameters&) {
  return std::make_unique<Sinusoidal>(shape);
}

}  // namespace lengthwise
