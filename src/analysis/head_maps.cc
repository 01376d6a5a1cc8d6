#include "analysis/head_maps.h"

#include <ATen/ATen.h>

#include <algorithm>

#include "core/base64.h"
#include "model/inspect.h"

namespace lengthwise {

Json head_maps(const Decoder& decoder, const std::vector<int64_t>& tokens) {
  const ModelConfig& config = decoder.config();
  const auto count = static_cast<int64_t>(tokens.size());
  const int64_t side = std::min(count, kMapSide);
  at::Tensor cells = at::zeros({config.layers, config.heads, side, side}, at::kFloat);
  const at::Tensor column =
      (at::arange(count, at::TensorOptions(at::kLong)) * side).div(count, "floor");  // of each token, or row
  Inspection inspection;
  inspection.attention = [&](const AttentionRows& rows) {
    const at::Tensor weights = rows.weights.to(at::kCPU, at::kFloat);
    const at::Tensor place = column.view({1, 1, count}).expand_as(weights);
    const at::Tensor narrow =
        at::zeros({config.heads, weights.size(1), side}, at::kFloat).scatter_reduce(2, place, weights, "amax");
    const at::Tensor line = column.narrow(0, rows.first_query, weights.size(1)).view({1, -1, 1}).expand_as(narrow);
    cells.select(0, rows.layer).scatter_reduce_(1, line, narrow, "amax");
  };
  inspect(decoder, placed_sequence(decoder, tokens), inspection);
  const at::Tensor bytes = (cells.sqrt() * 255).round().clamp(0, 255).to(at::kByte).contiguous();
  Json maps = Json::array();
  for (int64_t layer = 0; layer < config.layers; ++layer) {
    Json of_layer = Json::array();
    for (int64_t head = 0; head < config.heads; ++head) {
      const at::Tensor map = bytes[layer][head].contiguous();
      const auto* first = reinterpret_cast<const char*>(map.const_data_ptr<uint8_t>());
      of_layer.push_back(base64({first, static_cast<size_t>(map.numel())}));
    }
    maps.push_back(std::move(of_layer));
  }
  return {{"side", side}, {"tokens", count}, {"maps", std::move(maps)}};
}

}  // namespace lengthwise
