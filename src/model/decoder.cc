#include "model/decoder.h"

#include <cmath>

#include "core/error.h"
#include "positional/named.h"

namespace lengthwise {

Decoder::Decoder(const ModelConfig& config, std::optional<uint64_t> seed, at::ScalarType type, at::Device device,
                 MakeEncoding make_encoding)
    : Decoder(config, type, device, make_encoding) {
  parameters_.allocate_for(seed, type, device);
  kinds_ = kinds_of(*encoding_, encoding_shape(config, type, device));
}

Decoder::Decoder(const ModelConfig& config, at::ScalarType type, at::Device device, MakeEncoding make_encoding)
    : Model(config), score_scale_(score_scale_of(config)) {
  const auto rsqrt = [](int64_t x) { return 1.0 / std::sqrt(static_cast<double>(x)); };
  const int64_t width = config.width;
  const int64_t inner = config.heads * config.head_dim;
  const EncodingShape shape = encoding_shape(config, type, device);
  const auto make = [&](Parameters& parameters) {
    const EncodingParameters own(parameters, "encoding.");
    if (make_encoding != nullptr) return make_encoding(shape, own);
    const EncodingSpec spec = read_encoding(config.encoding);
    info_ = describe_encoding(spec);
    return lengthwise::make_encoding(spec, shape, own);
  };
  // Its parameters stand behind those of the layers, whose shapes it decides.
  Parameters unused;
  const std::unique_ptr<Encoding> asked = make(unused);
  embedding_ = &parameters_.add("embedding", {config.vocab_rows, width}, Initial::normal(1.0));
  for (int64_t index = 0; index < config.layers; ++index) {
    const std::string prefix = fmt::format("layers.{}.", index);
    LayerParameters layer{};
    layer.attention_gain = &parameters_.add(prefix + "attention.norm", {width}, Initial::all(1));
    std::vector<NormalBlock> columns{
        {inner, rsqrt(width * config.head_dim)}, {inner, rsqrt(width)}, {inner, rsqrt(width)}};
    for (const NormalBlock& block : asked->features(index)) columns.push_back(block);
    layer.qkv =
        &parameters_.add_product(prefix + "attention.qkv", {width, column_count(columns)}, Initial::columns(columns));
    layer.out = &parameters_.add_product(prefix + "attention.out", {inner, width}, Initial::normal(rsqrt(inner)));
    layer.ff_gain = &parameters_.add(prefix + "ff.norm", {width}, Initial::all(1));
    layer.ff_in = &parameters_.add_product(prefix + "ff.in", {width, config.ff_width}, Initial::normal(rsqrt(width)));
    layer.ff_out =
        &parameters_.add_product(prefix + "ff.out", {config.ff_width, width}, Initial::normal(rsqrt(config.ff_width)));
    layers_.push_back(layer);
  }
  final_gain_ = &parameters_.add("norm", {width}, Initial::all(1));
  encoding_from_ = parameters_.all().size();
  encoding_ = make(parameters_);
  placing_.rules = rules_of(*encoding_);
}

double Decoder::logit_scale() const {
  return 1.0 / std::sqrt(static_cast<double>(config_.width));
}

std::vector<const Parameter*> Decoder::encoding_parameters() const {
  std::vector<const Parameter*> list;
  for (size_t i = encoding_from_; i < parameters_.all().size(); ++i) list.push_back(&parameters_.all()[i]);
  return list;
}

bool runs_fused(const ModelConfig& config, at::Device device) {
  return config.is_decoder() && is_fused(kinds_of(config), device) && config.norm == "rms";
}

int64_t count_decoder_parameters(const ModelConfig& config) {
  return Decoder(config, at::kFloat, at::kCPU, nullptr).parameters().count();
}

Decoder* as_decoder(Model& model) {
  return dynamic_cast<Decoder*>(&model);
}

const Decoder* as_decoder(const Model& model) {
  return dynamic_cast<const Decoder*>(&model);
}

}  // namespace lengthwise
