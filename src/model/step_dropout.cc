#include "model/step_dropout.h"

#include "core/error.h"
#include "core/rng.h"

namespace lengthwise {

Dropout StepDropout::at(DropoutPlace place, int64_t layer) const {
  LENGTHWISE_CHECK(!written_seed.defined(), "a step that is captured has no number for a seed");
  return {probability, mix64(seed.value_or(0) + place_number(place, layer))};
}

at::Tensor StepDropout::mask(DropoutPlace place, int64_t layer, int64_t rows, int64_t columns,
                             const at::TensorOptions& options) const {
  if (!written_seed.defined()) return dropout_mask(at(place, layer), rows, columns, options);
  if (make_mask != nullptr && options.dtype() == at::kFloat) {
    return make_mask(probability, written_seed, place_number(place, layer), rows, columns);
  }
  return StepNoise(probability, written_seed, place_number(place, layer)).mask(rows, columns, options);
}

StepNoise StepDropout::noise(int64_t layer) const {
  if (written_seed.defined()) {
    return StepNoise(probability, written_seed, place_number(DropoutPlace::encoding, layer), done);
  }
  return seed ? StepNoise(probability, *seed, place_number(DropoutPlace::encoding, layer), done) : StepNoise();
}

}  // namespace lengthwise
