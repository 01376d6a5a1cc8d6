#include "model/product_weights.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>

#include "core/error.h"
#include "kernels/panel_products.h"

namespace lengthwise {
namespace {

ProductWeight in_panels(const Parameter& parameter, at::ScalarType type) {
  const int64_t in = parameter.shape[0];
  const int64_t out = parameter.shape[1];
  return {{}, at::empty({panels_size(in, out, type)}, type), at::empty({panels_size(out, in, type)}, type)};
}

}  // namespace

ProductWeights::ProductWeights(const Parameters& parameters, const Parameter& head, at::ScalarType type) {
  const at::ScalarType own = parameters.values().scalar_type();
  LENGTHWISE_CHECK(type == own || (type == at::kBFloat16 && own == at::kFloat),
                   "bf16 arithmetic needs float parameters");
  if (type != own && !has_panel_products(type)) mirror_.emplace(parameters);
  for (const Parameter& parameter : parameters.all()) {
    if (&parameter != &head && !parameter.product) continue;
    const at::ScalarType operands = &parameter == &head ? own : type;
    if (has_panel_products(operands)) {
      weights_[&parameter] = in_panels(parameter, operands);
    } else {
      weights_[&parameter].value = operands == own ? parameter.value.detach() : mirror_->of(parameter);
    }
  }
}

void ProductWeights::refresh(bool backward) {
  at::NoGradGuard no_grad;
  if (mirror_) mirror_->refresh();
  for (auto& [parameter, weight] : weights_) {
    if (weight.value.defined()) continue;
    // The head multiplies by the transpose of its weight forward.
    const bool is_head = !parameter->product;
    if (backward || !is_head) fill_panels(parameter->value, false, weight.panels);
    if (backward || is_head) fill_panels(parameter->value, true, weight.transposed);
  }
}

}  // namespace lengthwise
