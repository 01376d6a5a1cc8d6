#pragma once
/// What an encoding does, as numbers to be drawn: the values that it states at its start, for one model.
#include <string>
#include <utility>
#include <vector>

#include "model/model_config.h"

namespace lengthwise {

/// One drawing: rows of numbers over columns that have numbers of their own.
struct Sketch {
  std::string title;                                                   ///< `bias by distance`
  std::string layers;                                                  ///< `all layers`, or `layers 1, 3`
  std::string across = {};                                             ///< what the columns are: `distance`
  std::vector<double> columns = {};                                    ///< as many as a row has numbers
  std::vector<std::pair<std::string, std::vector<double>>> rows = {};  ///< `head 1` and its numbers
  bool heat = false;                                                   ///< shown as colours, not as curves
};

/// What the columns of a drawing of wavelengths are.
inline constexpr const char* kPairsOfDims = "pair of dims";

/// Of a resolved configuration, for the positions and distances 0 .. length - 1: additions to the embeddings,
/// wavelengths, biases, factors and windows. What depends on content is not in it.
std::vector<Sketch> sketch_encoding(const ModelConfig& config, int64_t length);

/// Lines of text, at most `width` columns wide.
std::string sketch_text(const Sketch& sketch, int64_t width = 100);

/// One SVG file with all of them under each other.
std::string sketch_svg(const std::string& title, const std::vector<Sketch>& sketches);

}  // namespace lengthwise
