#include "positional/registry.h"

namespace lengthwise {
namespace {

class NoPositions : public Encoding {
 public:
  const EncodingInfo& info() const override {
    static const EncodingInfo info{.name = "nope",
                                   .formula = "nothing: order comes from the causal mask alone",
                                   .paper = "Kazemnejad et al. 2023 (2305.19466)",
                                   .learned = "none"};
    return info;
  }
};

}  // namespace

std::unique_ptr<Encoding> make_nope(const EncodingConfig&, const EncodingShape&, Parameters&) {
  return std::make_unique<NoPositions>();
}

}  // namespace lengthwise
