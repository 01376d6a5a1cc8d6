#pragma once
/// What an encoding states, layer by layer, as the fused engines of all devices keep it: what several layers share is
/// there once.
#include <functional>
#include <vector>

#include "positional/encoding.h"

namespace lengthwise {

struct FusedValues {
  /// Contiguous tensors, with their autograd history. Empty for a layer that has columns of its own: what it states
  /// follows from what they say (model/content_values.h).
  std::vector<LayerValues> entries;
  std::vector<int64_t> entry;  ///< by layer: which one it uses

  /// Layers in the order of their entries, so that those of one entry stand together: the place of a layer.
  std::vector<int64_t> place;
  std::vector<int64_t> first, layers;  ///< by entry: the place of its first layer, and how many it has

  size_t entry_of(int64_t layer) const { return static_cast<size_t>(entry[static_cast<size_t>(layer)]); }
  const LayerValues& of(int64_t layer) const { return entries[entry_of(layer)]; }

  /// Whether a gradient of this layer's table is wanted.
  bool learns(int64_t layer) const;
  bool any_learns() const;
};

/// Checks that the device's kernels apply what a layer states, and makes its tensors contiguous.
void make_fused(LayerValues& values, int64_t layer, at::Device device);

/// What the values of a layer may draw from; nullptr: outside training.
using LayerNoise = std::function<StepNoise(int64_t layer)>;

/// For `positions` [token], those by other rules in `streams`, and the distances 0..distances-1. All that the encoding
/// states must be fused on the device (is_fused).
FusedValues fused_values(const Encoding& encoding, int64_t layers, const at::Tensor& positions, int64_t distances,
                         const LayerNoise& noise = nullptr, const std::vector<PositionStream>& streams = {});

}  // namespace lengthwise
