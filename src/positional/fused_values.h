#pragma once
/// What an encoding states, layer by layer, as the fused engines of all devices keep it: what several layers share is
/// there once.
#include <functional>
#include <vector>

#include "positional/encoding.h"

namespace lengthwise {

struct FusedValues {
  /// Contiguous tensors, with their autograd history. Empty for a layer that has columns of its own, unless the engine
  /// adds up their decay: what it states follows from what they say (model/content_values.h).
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

/// For what the context says, less the noise, which is each layer's own; positions of pairs are needed where the
/// encoding states dense biases. All that it states must be fused on the device (is_fused).
/// `adds_decays`: what layers with a decay state besides is asked for (Encoding::decay).
FusedValues fused_values(const Encoding& encoding, int64_t layers, EncodingContext context,
                         const LayerNoise& noise = nullptr, bool adds_decays = false);

/// Dense biases as the fused attention takes them, [batch or 1, head, query, key] in one type and in one piece, with
/// their history; nothing where none are stated.
void make_dense(LayerValues& values, int64_t heads, at::ScalarType type);

}  // namespace lengthwise
