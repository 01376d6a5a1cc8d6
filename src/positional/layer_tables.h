#pragma once
/// The bias tables that an encoding states, layer by layer, as the fused engines of all devices keep them.
///
/// There is one entry that all layers share, or one for each layer, undefined where a layer has no table. Nothing is
/// left out, so that a layer's number is the place of its table and of that table's gradient.
#include <functional>
#include <vector>

#include "positional/encoding.h"

namespace lengthwise {

struct LayerTables {
  std::vector<at::Tensor> entries;  ///< [head, distance], contiguous, with their autograd history

  /// Which entry a layer uses.
  size_t entry_of(int64_t layer) const { return entries.size() > 1 ? static_cast<size_t>(layer) : 0; }
  const at::Tensor& of(int64_t layer) const { return entries[entry_of(layer)]; }

  /// Whether a gradient of this layer's table is wanted.
  bool learns(int64_t layer) const;
  bool any_learns() const;
};

/// What the values of a layer may draw from; nullptr: outside training.
using LayerNoise = std::function<StepNoise(int64_t layer)>;

/// For the distances 0..distances-1. The encoding must be fused(): a table is all it states about scores.
LayerTables layer_tables(const Encoding& encoding, int64_t layers, int64_t distances,
                         const LayerNoise& noise = nullptr);

}  // namespace lengthwise
