// Colours that can be told apart, with any eyes and on any page.
#include "report/palette.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <set>

#include "report/families.h"

namespace lengthwise {
namespace {

using Colour = std::array<double, 3>;

/// Linear light of `#rrggbb`.
Colour linear(const std::string& hex) {
  Colour colour{};
  for (size_t i = 0; i < 3; ++i) {
    const double value = std::stoi(hex.substr(1 + 2 * i, 2), nullptr, 16) / 255.0;
    colour[i] = value <= 0.04045 ? value / 12.92 : std::pow((value + 0.055) / 1.055, 2.4);
  }
  return colour;
}

double contrast(const std::string& a, const std::string& b) {
  const auto luminance = [](const Colour& c) { return 0.2126 * c[0] + 0.7152 * c[1] + 0.0722 * c[2]; };
  const double one = luminance(linear(a)) + 0.05, other = luminance(linear(b)) + 0.05;
  return std::max(one, other) / std::min(one, other);
}

using Matrix = std::array<Colour, 3>;

/// Eyes without one of the three cones (Machado, Oliveira and Fernandes 2009, severity 1), and with all.
const std::vector<std::pair<std::string, Matrix>> kEyes = {
    {"all cones", {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}}},
    {"red-blind",
     {{{0.152286, 1.052583, -0.204868}, {0.114503, 0.786281, 0.099216}, {-0.003882, -0.048116, 1.051998}}}},
    {"green-blind",
     {{{0.367322, 0.860646, -0.227968}, {0.280085, 0.672501, 0.047413}, {-0.011820, 0.042940, 0.968881}}}},
    {"blue-blind",
     {{{1.255528, -0.076749, -0.178779}, {-0.078411, 0.930809, 0.147602}, {0.004733, 0.691367, 0.303900}}}},
};

/// Distance in OKLab, in which equal steps look about equal; 100 lies between black and white.
double seen_distance(const std::string& a, const std::string& b, const Matrix& eyes) {
  const auto lab = [&](const std::string& hex) {
    const Colour c = linear(hex);
    Colour s{};
    for (size_t i = 0; i < 3; ++i) {
      s[i] = std::clamp(eyes[i][0] * c[0] + eyes[i][1] * c[1] + eyes[i][2] * c[2], 0.0, 1.0);
    }
    const double l = std::cbrt(0.4122214708 * s[0] + 0.5363325363 * s[1] + 0.0514459929 * s[2]);
    const double m = std::cbrt(0.2119034982 * s[0] + 0.6806995451 * s[1] + 0.1073969566 * s[2]);
    const double t = std::cbrt(0.0883024619 * s[0] + 0.2817188376 * s[1] + 0.6299787005 * s[2]);
    return Colour{0.2104542553 * l + 0.7936177850 * m - 0.0040720468 * t,
                  1.9779984951 * l - 2.4285922050 * m + 0.4505937099 * t,
                  0.0259040371 * l + 0.7827717662 * m - 0.8086757660 * t};
  };
  const Colour x = lab(a), y = lab(b);
  return 100 * std::sqrt(std::pow(x[0] - y[0], 2) + std::pow(x[1] - y[1], 2) + std::pow(x[2] - y[2], 2));
}

const std::vector<std::string> kKnown = {"nope",       "t5",      "alibi",         "rope",
                                         "sinusoidal", "learned", "alibi-learned", "transformer-xl"};

TEST(Palette, StandsOutFromThePage) {
  for (const LineStyle& style : line_styles(kKnown)) {
    EXPECT_GE(contrast(style.light, "#ffffff"), 3) << style.light;
    EXPECT_GE(contrast(style.dark, "#14171c"), 3) << style.dark;
  }
}

TEST(Palette, CanBeToldApartWithoutRedGreenOrBlue) {
  const std::vector<LineStyle> styles = line_styles(kKnown);
  for (size_t a = 0; a < styles.size(); ++a) {
    for (size_t b = a + 1; b < styles.size(); ++b) {
      // The five of the paper stand in nearly every chart; the rest also differ in dash and marker.
      const double least = b < 5 ? 7 : 4.5;
      for (const auto& [name, eyes] : kEyes) {
        EXPECT_GE(seen_distance(styles[a].light, styles[b].light, eyes), least) << name << kKnown[a] << kKnown[b];
        EXPECT_GE(seen_distance(styles[a].dark, styles[b].dark, eyes), least) << name << kKnown[a] << kKnown[b];
      }
      EXPECT_NE(styles[a].marker, styles[b].marker);
      EXPECT_NE(styles[a].dash, styles[b].dash);
    }
  }
}

TEST(Palette, IsTheSameUnderEveryName) {
  EXPECT_EQ(line_styles({"T5's Relative Bias"})[0].light, line_styles({"t5"})[0].light);
  EXPECT_EQ(line_styles({"rope", "nope"})[1].light, line_styles({"NoPE"})[0].light);
}

TEST(Palette, GivesUnknownEncodingsTheirOwn) {
  std::vector<std::string> names = {"nope", "mine", "yours", "APE", "sinusoidal"};
  for (int i = 0; i < 20; ++i) names.push_back("encoding-" + std::to_string(i));
  std::set<std::string> light, dark, shapes;
  for (const LineStyle& style : line_styles(names)) {
    light.insert(style.light);
    dark.insert(style.dark);
    shapes.insert(style.marker + " " + style.dash);
    EXPECT_GE(contrast(style.light, "#ffffff"), 3) << style.light;
    EXPECT_GE(contrast(style.dark, "#14171c"), 3) << style.dark;
  }
  EXPECT_EQ(light.size(), names.size());
  EXPECT_EQ(dark.size(), names.size());
  EXPECT_EQ(shapes.size(), names.size()) << "in black and white too";
  EXPECT_EQ(line_styles({"mine"})[0].light, line_styles({"nope", "mine"})[1].light) << "whatever stands beside it";
}

TEST(Palette, ManyHaveTheHueOfTheirFamily) {
  const std::vector<std::string> families = {"none",    "embedding",   "bias",      "rotation",
                                             "content", "temperature", "positions", "modifier"};
  std::vector<Family> hues;
  for (const std::string& name : families) hues.push_back(family_called(name));
  for (size_t a = 0; a < hues.size(); ++a) {
    for (size_t b = a + 1; b < hues.size(); ++b) {
      for (const auto& [name, eyes] : kEyes) {
        EXPECT_GE(seen_distance(hues[a].light, hues[b].light, eyes), 4.5) << name << families[a] << families[b];
        EXPECT_GE(seen_distance(hues[a].dark, hues[b].dark, eyes), 4.5) << name << families[a] << families[b];
      }
    }
  }
  std::vector<std::string> names, of;
  for (int i = 0; i < 20; ++i) {
    for (const char* family : {"bias", "rotation", "mine"}) {
      names.push_back(family + std::to_string(i));
      of.emplace_back(family);
    }
  }
  std::set<std::string> looks;
  const std::vector<LineStyle> styles = line_styles(names, of);
  for (const LineStyle& style : styles) {
    looks.insert(style.light + style.marker + style.dash);
    EXPECT_GE(contrast(style.light, "#ffffff"), 3) << style.light;
    EXPECT_GE(contrast(style.dark, "#14171c"), 3) << style.dark;
  }
  EXPECT_EQ(looks.size(), names.size());
  EXPECT_EQ(styles[0].light, family_called("bias").light) << "the first has the plain hue";
  EXPECT_NE(styles[3].light, styles[0].light);
  EXPECT_EQ(line_styles({"t5"}, {"bias"})[0].light, line_styles({"t5"})[0].light) << "a few have colours of their own";
}

TEST(Palette, FamiliesStandInTheUsualOrder) {
  std::vector<std::string> names;
  for (const Family& family : families_among({"other", "mine", "rotation", "none", "rotation", "yours"}))
    names.push_back(family.label);
  EXPECT_EQ(names, (std::vector<std::string>{"None", "Rotations", "mine", "yours", "Other"}));
}

TEST(Palette, EveryMarkerIsAPath) {
  for (const LineStyle& style : line_styles(kKnown)) EXPECT_TRUE(marker_path(style.marker, 5, 5, 2).starts_with("M"));
}

}  // namespace
}  // namespace lengthwise
