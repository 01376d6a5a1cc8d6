#pragma once
/// Families of encodings in a report: how they are called, in which order they stand, and the hue of each.
#include <string>
#include <vector>

namespace lengthwise {

struct Family {
  std::string name;   ///< as runs say it: `rotation`
  std::string label;  ///< `Rotations`; of a family that is not ours, its name
  std::string light;  ///< its colour on a light page, `#rrggbb`
  std::string dark;   ///< on a dark one
};

/// By its name. Ours have the colours of the known encodings (palette.h), which can be told apart with any eyes; any
/// other has a hue that follows from its name.
Family family_called(const std::string& name);

/// Each once: ours in the order of `lengthwise encodings`, then others in the order given, `other` last.
std::vector<Family> families_among(const std::vector<std::string>& names);

/// The k-th of n shades of a colour, from the colour itself to nearly half of the way to black, or to white.
std::string darker_shade(const std::string& colour, size_t k, size_t n);
std::string lighter_shade(const std::string& colour, size_t k, size_t n);

/// `#rrggbb` of a hue in degrees, a saturation and a lightness from 0 to 1.
std::string hex_of(double hue, double saturation, double lightness);

}  // namespace lengthwise
