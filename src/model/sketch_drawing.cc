// How sketches of encodings look, as text and as SVG.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "core/table.h"
#include "model/encoding_sketch.h"

namespace lengthwise {
namespace {

/// Numbers below this stand for "not seen".
constexpr double kNever = -1e6;

/// 0, 1, 2, 3, 4, 6, 8, 12, 16, ...: few columns that show what happens near and far.
std::vector<size_t> shown_columns(size_t count) {
  std::vector<size_t> shown;
  for (size_t at = 0; at < count; at += std::max<size_t>(1, at < 4 ? 1 : std::bit_floor(at) / 2)) shown.push_back(at);
  if (!shown.empty() && shown.back() + 1 < count) shown.push_back(count - 1);
  return shown;
}

std::string number_text(double value) {
  return value <= kNever ? "never" : fmt::format("{:.3g}", value == 0 ? 0.0 : value);  // not -0
}

struct Range {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();
};

Range range_of(const Sketch& sketch) {
  Range range;
  for (const auto& [name, numbers] : sketch.rows) {
    for (const double number : numbers) {
      if (number <= kNever || !std::isfinite(number)) continue;
      range.low = std::min(range.low, number);
      range.high = std::max(range.high, number);
    }
  }
  if (!(range.low < range.high)) range = {range.low - 1, range.low + 1};
  return range;
}

std::string heat_text(const Sketch& sketch, int64_t width) {
  constexpr std::string_view kShades = " .:-=+*#%@";
  const Range range = range_of(sketch);
  const size_t columns =
      std::min<size_t>(sketch.columns.size(), static_cast<size_t>(std::max<int64_t>(20, width - 14)));
  std::string text;
  for (const size_t row : shown_columns(sketch.rows.size())) {
    const auto& [name, numbers] = sketch.rows[row];
    text += fmt::format("{:>13} ", name);
    for (size_t c = 0; c < columns; ++c) {
      const double share = (numbers[c * numbers.size() / columns] - range.low) / (range.high - range.low);
      text += kShades[static_cast<size_t>(std::clamp(share, 0.0, 1.0) * 9.0)];
    }
    text += '\n';
  }
  return text + fmt::format("{:>13} {:.3g}, '@' is {:.3g}\n", "' ' is", range.low, range.high);
}

constexpr double kWidth = 640, kHeight = 180, kLeft = 60, kTop = 30, kGap = 60;

std::string curves_svg(const Sketch& sketch, double top) {
  const Range range = range_of(sketch);
  const double last = std::max(1.0, sketch.columns.empty() ? 1.0 : sketch.columns.back());
  const auto x = [&](double column) { return kLeft + column / last * kWidth; };
  const auto y = [&](double value) { return top + (range.high - value) / (range.high - range.low) * kHeight; };
  std::string svg = fmt::format("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"none\" stroke=\"#bbb\"/>\n",
                                kLeft, top, kWidth, kHeight);
  for (const double value : {range.low, range.high}) {
    svg +=
        fmt::format("<text x=\"{}\" y=\"{:.1f}\" text-anchor=\"end\">{:.3g}</text>\n", kLeft - 4, y(value) + 4, value);
  }
  svg += fmt::format("<text x=\"{}\" y=\"{}\">0</text><text x=\"{}\" y=\"{}\" text-anchor=\"end\">{} {:.0f}</text>\n",
                     kLeft, top + kHeight + 14, kLeft + kWidth, top + kHeight + 14, sketch.across, last);
  for (size_t row = 0; row < sketch.rows.size(); ++row) {
    const auto& [name, numbers] = sketch.rows[row];
    std::string points;
    for (size_t c = 0; c < numbers.size(); ++c) {
      if (numbers[c] <= kNever || !std::isfinite(numbers[c])) continue;
      points += fmt::format("{:.1f},{:.1f} ", x(sketch.columns[c]), y(numbers[c]));
    }
    const double hue = 360.0 * static_cast<double>(row) / static_cast<double>(sketch.rows.size());
    svg += fmt::format(
        "<polyline points=\"{}\" fill=\"none\" stroke=\"hsl({:.0f},60%,40%)\"><title>{}</title></polyline>\n", points,
        hue, name);
  }
  return svg;
}

std::string heat_svg(const Sketch& sketch, double top) {
  const Range range = range_of(sketch);
  const double cell_width = kWidth / static_cast<double>(sketch.columns.size());
  const double cell_height = kHeight / static_cast<double>(sketch.rows.size());
  std::string svg;
  for (size_t row = 0; row < sketch.rows.size(); ++row) {
    const auto& [name, numbers] = sketch.rows[row];
    for (size_t c = 0; c < numbers.size(); ++c) {
      const double share = (numbers[c] - range.low) / (range.high - range.low);
      svg += fmt::format(
          "<rect x=\"{:.2f}\" y=\"{:.2f}\" width=\"{:.2f}\" height=\"{:.2f}\" fill=\"hsl({:.0f},60%,{:.0f}%)\"/>\n",
          kLeft + static_cast<double>(c) * cell_width, top + static_cast<double>(row) * cell_height, cell_width + 0.1,
          cell_height + 0.1, share < 0.5 ? 220.0 : 10.0, 95 - 90 * std::abs(share - 0.5));
    }
  }
  return svg + fmt::format("<text x=\"{}\" y=\"{}\">{} 0 to {}; {} down</text>\n", kLeft, top + kHeight + 14,
                           sketch.across, sketch.columns.size() - 1, sketch.rows.empty() ? "" : "position");
}

std::string escaped(const std::string& text) {
  std::string safe;
  for (const char c : text) safe += c == '<' ? "&lt;" : c == '&' ? "&amp;" : std::string(1, c);
  return safe;
}

}  // namespace

std::string sketch_text(const Sketch& sketch, int64_t width) {
  std::string text = fmt::format("{} ({})\n", sketch.title, sketch.layers);
  if (sketch.rows.empty()) return text;
  if (sketch.heat) return text + heat_text(sketch, width);
  const std::vector<size_t> columns = shown_columns(sketch.columns.size());
  std::vector<std::string> header{sketch.across};
  for (const size_t column : columns) header.push_back(fmt::format("{:g}", sketch.columns[column]));
  Table table(header);
  for (const auto& [name, numbers] : sketch.rows) {
    std::vector<std::string> row{name};
    for (const size_t column : columns) row.push_back(number_text(numbers[column]));
    table.add(row);
  }
  return text + table.to_string();
}

std::string sketch_svg(const std::string& title, const std::vector<Sketch>& sketches) {
  std::string body;
  double top = kTop;
  for (const Sketch& sketch : sketches) {
    body += fmt::format("<text x=\"{}\" y=\"{}\" font-weight=\"bold\">{} ({})</text>\n", kLeft, top + 14,
                        escaped(sketch.title), escaped(sketch.layers));
    top += 22;
    if (sketch.rows.empty()) continue;
    body += sketch.heat ? heat_svg(sketch, top) : curves_svg(sketch, top);
    top += kHeight + kGap;
  }
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\" "
      "font-family=\"sans-serif\" font-size=\"12\">\n<title>{2}</title>\n<text x=\"{3}\" y=\"20\" "
      "font-size=\"16\">{2}</text>\n{4}</svg>\n",
      kLeft + kWidth + 20, top + 20, escaped(title), kLeft, body);
}

}  // namespace lengthwise
