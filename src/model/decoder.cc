#include "model/decoder.h"

#include <cmath>

#include "core/error.h"
#include "positional/registry.h"

namespace lengthwise {

Arithmetic arithmetic_of(const std::string& precision) {
  return precision == "bf16" ? Arithmetic::bf16 : Arithmetic::full;
}

Dropout StepDropout::at(DropoutPlace place, int64_t layer) const {
  return {probability, mix64(seed.value_or(0) + place_number(place, layer))};
}

StepNoise StepDropout::noise(int64_t layer) const {
  return seed ? StepNoise(probability, *seed, place_number(DropoutPlace::encoding, layer)) : StepNoise();
}

Decoder::Decoder(const ModelConfig& config, uint64_t seed, at::ScalarType type, at::Device device,
                 MakeEncoding make_encoding)
    : Decoder(config, type, device, make_encoding) {
  parameters_.allocate(type, Rng(seed).stream("initial"), device);
}

Decoder::Decoder(const ModelConfig& config, at::ScalarType type, at::Device device, MakeEncoding make_encoding)
    : config_(config), score_scale_(score_scale_of(config)) {
  const auto rsqrt = [](int64_t x) { return 1.0 / std::sqrt(static_cast<double>(x)); };
  const int64_t width = config.width;
  const int64_t inner = config.heads * config.head_dim;
  embedding_ = &parameters_.add("embedding", {config.vocab_rows, width}, Initial::normal(1.0));
  for (int64_t index = 0; index < config.layers; ++index) {
    const std::string prefix = fmt::format("layers.{}.", index);
    LayerParameters layer{};
    layer.attention_gain = &parameters_.add(prefix + "attention.norm", {width}, Initial::all(1));
    layer.qkv = &parameters_.add_product(
        prefix + "attention.qkv", {width, 3 * inner},
        Initial::columns({{inner, rsqrt(width * config.head_dim)}, {inner, rsqrt(width)}, {inner, rsqrt(width)}}));
    layer.out = &parameters_.add_product(prefix + "attention.out", {inner, width}, Initial::normal(rsqrt(inner)));
    layer.ff_gain = &parameters_.add(prefix + "ff.norm", {width}, Initial::all(1));
    layer.ff_in = &parameters_.add_product(prefix + "ff.in", {width, config.ff_width}, Initial::normal(rsqrt(width)));
    layer.ff_out =
        &parameters_.add_product(prefix + "ff.out", {config.ff_width, width}, Initial::normal(rsqrt(config.ff_width)));
    layers_.push_back(layer);
  }
  final_gain_ = &parameters_.add("norm", {width}, Initial::all(1));
  const EncodingShape shape{config.layers, config.heads, config.head_dim, width, type, device};
  encoding_from_ = parameters_.all().size();
  if (make_encoding == nullptr) make_encoding = find_encoding(config.encoding).make;
  encoding_ = make_encoding(config.encoding_options, shape, parameters_);
}

double Decoder::logit_scale() const {
  return 1.0 / std::sqrt(static_cast<double>(config_.width));
}

std::vector<const Parameter*> Decoder::encoding_parameters() const {
  std::vector<const Parameter*> list;
  for (size_t i = encoding_from_; i < parameters_.all().size(); ++i) list.push_back(&parameters_.all()[i]);
  return list;
}

bool runs_fused(const ModelConfig& config) {
  Parameters unused;
  const EncodingShape shape{config.layers, config.heads, config.head_dim, config.width, at::kFloat, at::kCPU};
  return find_encoding(config.encoding).make(config.encoding_options, shape, unused)->fused() && config.norm == "rms";
}

int64_t count_parameters(const ModelConfig& config) {
  return Decoder(config, at::kFloat, at::kCPU, nullptr).parameters().count();
}

}  // namespace lengthwise
