#include "positional/fused_values.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <map>

#include "core/error.h"

namespace lengthwise {
namespace {

bool table_learns(const LayerValues& values) {
  return values.table.defined() && values.table.requires_grad();
}

void make_contiguous(at::Tensor& tensor) {
  if (tensor.defined()) tensor = tensor.contiguous();
}

}  // namespace

bool FusedValues::learns(int64_t layer) const {
  return table_learns(of(layer));
}

bool FusedValues::any_learns() const {
  return std::any_of(entries.begin(), entries.end(), table_learns);
}

void make_fused(LayerValues& values, int64_t layer, at::Device device) {
  LENGTHWISE_CHECK(is_fused(kinds_of(values), device),
                   "an encoding states more than the fused kernels apply in layer {}", layer);
  for (at::Tensor* tensor :
       {&values.table, &values.query.cos, &values.query.sin, &values.key.cos, &values.key.sin, &values.query_scale})
    make_contiguous(*tensor);
}

void make_dense(LayerValues& values, int64_t heads, at::ScalarType type) {
  if (values.dense.defined()) values.dense = values.dense.expand({-1, heads, -1, -1}).to(type).contiguous();
}

FusedValues fused_values(const Encoding& encoding, int64_t layers, EncodingContext context, const LayerNoise& noise,
                         bool adds_decays) {
  FusedValues fused;
  std::map<int64_t, int64_t> known;  // entries by variant
  for (int64_t layer = 0; layer < layers; ++layer) {
    if (column_count(encoding.features(layer)) > 0 && !(adds_decays && encoding.decay(layer))) {
      fused.entry.push_back(std::ssize(fused.entries));
      fused.entries.emplace_back();
      continue;
    }
    const auto [found, fresh] = known.try_emplace(encoding.variant(layer), std::ssize(fused.entries));
    fused.entry.push_back(found->second);
    if (!fresh) continue;
    context.noise = noise ? noise(layer) : StepNoise();
    LayerValues values = encoding.layer(layer, context);
    make_fused(values, layer, context.positions.device());
    fused.entries.push_back(std::move(values));
  }
  fused.place.resize(static_cast<size_t>(layers));
  int64_t place = 0;
  for (int64_t entry = 0; entry < std::ssize(fused.entries); ++entry) {
    fused.first.push_back(place);
    for (size_t layer = 0; layer < fused.entry.size(); ++layer) {
      if (fused.entry[layer] == entry) fused.place[layer] = place++;
    }
    fused.layers.push_back(place - fused.first.back());
  }
  return fused;
}

}  // namespace lengthwise
