#pragma once
/// How each encoding is drawn: the same colour, dash and marker in every chart of a report, and up to twelve encodings
/// in every report.
///
/// The colours of the known encodings can be told apart with red-, green- and blue-blind eyes and have a contrast of at
/// least 3 to the page (tests/report/palette_test.cc measures both); dashes and markers differ too, so that print in
/// black and white works.
#include <string>
#include <vector>

#include "ranking/comparison.h"

namespace lengthwise {

struct LineStyle {
  std::string light;   ///< colour on a light page, `#rrggbb`
  std::string dark;    ///< on a dark one
  std::string dash;    ///< SVG stroke-dasharray; empty: solid
  std::string marker;  ///< circle, square, triangle, diamond, down, all of them also as `open-...`, cross, plus, star
};

/// One style per encoding. Of more than kFewEncodings each family has a hue and its encodings shades of it
/// (families.h). Otherwise, and where nobody says their families, a known encoding has its own,
/// under any of its names (encoding_names.h). Any other has one that follows from its name alone unless another's is
/// the same; then the next free one. Their markers are open.
std::vector<LineStyle> line_styles(const std::vector<std::string>& encodings,
                                   const std::vector<std::string>& families = {});

/// Those of a comparison's encodings; within a family in the order of the ranking, so that the best have its plain hue.
std::vector<LineStyle> line_styles(const Comparison& comparison);

/// The colour inside a marker: that of the line, or of the page for an open one. Both are given as CSS.
std::string marker_fill(const std::string& marker, const std::string& line);

/// The path of a marker about (x, y), `size` from the middle to the edge.
std::string marker_path(const std::string& marker, double x, double y, double size);

}  // namespace lengthwise
