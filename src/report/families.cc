#include "report/families.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/rng.h"

namespace lengthwise {
namespace {

const std::vector<Family>& known_families() {
  static const std::vector<Family> families = {
      {"none", "None", "#4a4a4a", "#969696"},           {"embedding", "Embeddings", "#b58a00", "#f2d35c"},
      {"bias", "Biases", "#b8380a", "#e8734a"},         {"rotation", "Rotations", "#bb4094", "#e58fd0"},
      {"content", "Content", "#0d9a6c", "#3fd6a4"},     {"temperature", "Temperatures", "#1f96d4", "#93dcff"},
      {"positions", "Positions", "#4b2aa0", "#8a6cf0"}, {"modifier", "Mixtures", "#1452c8", "#5b9bff"},
      {"recurrent", "Recurrent", "#5d7a00", "#b7d957"},
  };
  return families;
}

/// Where a family stands: ours first, `other` last.
size_t place_of(const std::string& name) {
  const std::vector<Family>& known = known_families();
  const auto found = std::find_if(known.begin(), known.end(), [&](const Family& one) { return one.name == name; });
  return static_cast<size_t>(found - known.begin()) + (name == "other" ? 1 : 0);
}

std::string shade(const std::string& colour, double target, size_t k, size_t n) {
  constexpr double kFarthest = 0.45;
  const double share = n < 2 ? 0 : kFarthest * static_cast<double>(k) / static_cast<double>(n - 1);
  std::string text = "#";
  for (size_t i = 1; i < 7; i += 2) {
    const double channel = std::stoi(colour.substr(i, 2), nullptr, 16);
    text += fmt::format("{:02x}", std::lround(channel + share * (target - channel)));
  }
  return text;
}

}  // namespace

Family family_called(const std::string& name) {
  const size_t place = place_of(name);
  if (place < known_families().size()) return known_families()[place];
  if (name == "other") return {name, "Other", "#6b6257", "#c4b8a8"};
  const auto hue = static_cast<double>(stable_hash(name) % 360);
  return {name, name, hex_of(hue, 0.6, 0.3), hex_of(hue, 0.6, 0.72)};
}

std::vector<Family> families_among(const std::vector<std::string>& names) {
  std::vector<Family> families;
  for (const std::string& name : names) {
    const bool seen =
        std::any_of(families.begin(), families.end(), [&](const Family& one) { return one.name == name; });
    if (!seen) families.push_back(family_called(name));
  }
  std::stable_sort(families.begin(), families.end(),
                   [](const Family& a, const Family& b) { return place_of(a.name) < place_of(b.name); });
  return families;
}

std::string darker_shade(const std::string& colour, size_t k, size_t n) {
  return shade(colour, 0, k, n);
}

std::string lighter_shade(const std::string& colour, size_t k, size_t n) {
  return shade(colour, 255, k, n);
}

std::string hex_of(double hue, double saturation, double lightness) {
  const auto channel = [&](double n) {
    const double k = std::fmod(n + hue / 30, 12);
    const double a = saturation * std::min(lightness, 1 - lightness);
    return lightness - a * std::max(-1.0, std::min({k - 3, 9 - k, 1.0}));
  };
  const auto byte = [](double share) { return static_cast<int>(std::lround(255 * share)); };
  return fmt::format("#{:02x}{:02x}{:02x}", byte(channel(0)), byte(channel(8)), byte(channel(4)));
}

}  // namespace lengthwise
