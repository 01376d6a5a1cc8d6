#include "positional/layer_tables.h"

#include <ATen/ATen.h>

#include <algorithm>

#include "core/error.h"

namespace lengthwise {
namespace {

bool wants_gradient(const at::Tensor& table) {
  return table.defined() && table.requires_grad();
}

}  // namespace

bool LayerTables::learns(int64_t layer) const {
  return wants_gradient(of(layer));
}

bool LayerTables::any_learns() const {
  return std::any_of(entries.begin(), entries.end(), wants_gradient);
}

LayerTables layer_tables(const Encoding& encoding, int64_t layers, int64_t distances, const LayerNoise& noise) {
  LENGTHWISE_CHECK(encoding.fused(), "the encoding {} has values beyond tables and rotations", encoding.info().name);
  LayerTables tables;
  for (int64_t layer = 0; layer < (encoding.per_layer() ? layers : 1); ++layer) {
    const ScoreTerms terms = encoding.score_terms(distances, layer, noise ? noise(layer) : StepNoise());
    LENGTHWISE_CHECK(terms.table_only(), "the encoding {} says it is fused, but has more than a table in layer {}",
                     encoding.info().name, layer);
    tables.entries.push_back(terms.table.defined() ? terms.table.contiguous() : terms.table);
  }
  return tables;
}

}  // namespace lengthwise
