#include "report/palette.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>

#include "core/error.h"
#include "core/rng.h"
#include "report/families.h"
#include "results/encoding_names.h"

namespace lengthwise {
namespace {

struct KnownStyle {
  const char* encoding;
  LineStyle style;
};

const std::vector<KnownStyle>& known_styles() {
  static const std::vector<KnownStyle> styles = {
      {"nope", {"#1452c8", "#5b9bff", "", "circle"}},
      {"t5", {"#b8380a", "#e8734a", "7 3", "square"}},
      {"alibi", {"#0d9a6c", "#3fd6a4", "2 2.5", "triangle"}},
      {"rope", {"#bb4094", "#e58fd0", "9 3 2 3", "diamond"}},
      {"sinusoidal", {"#b58a00", "#f2d35c", "4 2", "cross"}},
      {"learned", {"#1f96d4", "#93dcff", "12 3", "plus"}},
      {"alibi-learned", {"#4b2aa0", "#8a6cf0", "1 3", "down"}},
      {"transformer-xl", {"#4a4a4a", "#969696", "9 3 2 3 2 3", "star"}},
  };
  return styles;
}

constexpr std::array kMarkers = {"open-circle", "open-square", "open-triangle", "open-diamond", "open-down"};
constexpr std::array kDashes = {"5 2 1 2", "3 3", "10 2 4 2", "1 1.5", "6 6"};

/// Styles for encodings nobody knows: hues go round by the golden angle, so that neighbours differ most.
LineStyle spare_style(size_t number) {
  constexpr double kGoldenAngle = 137.50776405003785;
  const double hue = std::fmod(20 + static_cast<double>(number) * kGoldenAngle, 360);
  const bool deep = number % 2 == 1;
  return {hex_of(hue, 0.75, deep ? 0.22 : 0.33), hex_of(hue, 0.70, deep ? 0.82 : 0.68),
          kDashes[number % kDashes.size()], kMarkers[number / kDashes.size() % kMarkers.size()]};
}

/// By family: its hue in shades, and within it every dash and marker in turn.
std::vector<LineStyle> styles_by_family(const std::vector<std::string>& families) {
  std::vector<std::pair<std::string, std::string>> shapes;  // dash, marker
  for (const KnownStyle& known : known_styles()) shapes.emplace_back(known.style.dash, known.style.marker);
  for (size_t i = 0; i < kDashes.size() * kMarkers.size(); ++i) {
    shapes.emplace_back(kDashes[i % kDashes.size()], kMarkers[(i + i / kDashes.size()) % kMarkers.size()]);
  }
  std::map<std::string, size_t> sizes, used;
  for (const std::string& family : families) ++sizes[family];
  std::vector<LineStyle> styles;
  for (const std::string& name : families) {
    const Family family = family_called(name);
    const size_t k = used[name]++;
    const auto& [dash, marker] = shapes[k % shapes.size()];
    styles.push_back(
        {darker_shade(family.light, k, sizes[name]), lighter_shade(family.dark, k, sizes[name]), dash, marker});
  }
  return styles;
}

}  // namespace

std::vector<LineStyle> line_styles(const std::vector<std::string>& encodings,
                                   const std::vector<std::string>& families) {
  if (encodings.size() > kFewEncodings && families.size() == encodings.size()) return styles_by_family(families);
  constexpr size_t kSpares = kMarkers.size() * kDashes.size();
  std::set<std::string> used_known;
  std::set<size_t> used_spares;
  std::vector<LineStyle> styles(encodings.size());
  std::vector<size_t> unknown;
  for (size_t i = 0; i < encodings.size(); ++i) {
    const std::string name = known_encoding(encodings[i]);
    bool found = false;
    for (const KnownStyle& known : known_styles()) {
      // Two names of one encoding (`APE` and `sinusoidal`) must not look alike.
      if (name != known.encoding || !used_known.insert(name).second) continue;
      styles[i] = known.style;
      found = true;
    }
    if (!found) unknown.push_back(i);
  }
  for (const size_t i : unknown) {
    size_t number = static_cast<size_t>(stable_hash(encodings[i]) % kSpares);
    while (used_spares.size() < kSpares && used_spares.contains(number)) number = (number + 1) % kSpares;
    if (used_spares.size() >= kSpares) number = used_spares.size();
    used_spares.insert(number);
    styles[i] = spare_style(number);
  }
  return styles;
}

std::vector<LineStyle> line_styles(const Comparison& comparison) {
  if (comparison.encodings.size() <= kFewEncodings) return line_styles(comparison.encodings);
  std::vector<std::string> encodings, families;
  for (const RankedEncoding& ranked : comparison.ranking) {
    encodings.push_back(comparison.encodings[ranked.encoding]);
    families.push_back(comparison.families[ranked.encoding]);
  }
  const std::vector<LineStyle> by_rank = line_styles(encodings, families);
  std::vector<LineStyle> styles(by_rank.size());
  for (size_t i = 0; i < by_rank.size(); ++i) styles[comparison.ranking[i].encoding] = by_rank[i];
  return styles;
}

std::string marker_fill(const std::string& marker, const std::string& line) {
  return marker.starts_with("open-") ? "var(--page)" : line;
}

std::string marker_path(const std::string& name, double x, double y, double size) {
  const std::string marker = name.starts_with("open-") ? name.substr(5) : name;
  const auto path = [&](std::initializer_list<std::pair<double, double>> points, bool close) {
    std::string text;
    for (const auto& [dx, dy] : points) {
      text += fmt::format("{}{:.2f} {:.2f}", text.empty() ? "M" : "L", x + dx * size, y + dy * size);
    }
    return close ? text + "Z" : text;
  };
  if (marker == "circle") {
    return fmt::format("M{0:.2f} {1:.2f}a{2:.2f} {2:.2f} 0 1 0 {3:.2f} 0a{2:.2f} {2:.2f} 0 1 0 -{3:.2f} 0Z", x - size,
                       y, size, 2 * size);
  }
  if (marker == "square") return path({{-.9, -.9}, {.9, -.9}, {.9, .9}, {-.9, .9}}, true);
  if (marker == "triangle") return path({{0, -1.15}, {1.1, .85}, {-1.1, .85}}, true);
  if (marker == "down") return path({{0, 1.15}, {1.1, -.85}, {-1.1, -.85}}, true);
  if (marker == "diamond") return path({{0, -1.3}, {1.1, 0}, {0, 1.3}, {-1.1, 0}}, true);
  if (marker == "cross") return path({{-1, -1}, {1, 1}}, false) + path({{-1, 1}, {1, -1}}, false);
  if (marker == "plus") return path({{-1.2, 0}, {1.2, 0}}, false) + path({{0, -1.2}, {0, 1.2}}, false);
  LENGTHWISE_CHECK(marker == "star", "no marker {}", marker);
  return path({{-1.2, 0}, {1.2, 0}}, false) + path({{-.6, -1}, {.6, 1}}, false) + path({{-.6, 1}, {.6, -1}}, false);
}

}  // namespace lengthwise
