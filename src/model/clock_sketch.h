#pragma once
/// A clockwork network's clocks beside an encoding's rotations, as drawings: two ladders of time scales that nobody
/// learns, one of square waves and one of turning planes.
#include "model/encoding_sketch.h"

namespace lengthwise {

/// Periods by module, and over the positions 0 .. length - 1 which modules are computed (1) and which rest (0).
std::vector<Sketch> sketch_clocks(const std::vector<int64_t>& periods, int64_t length);

/// Over the same positions, the cosine of the angle by which every pair of dims is turned, for every drawing of
/// wavelengths among an encoding's (sketch_encoding). UserError where there is none: `encoding` names it.
std::vector<Sketch> sketch_turns(const std::vector<Sketch>& sketches, const std::string& encoding, int64_t length);

/// By how much the ladders rise: `modules: 2 times from one to the next, 1 to 32; pairs of dims: ...`.
std::string compare_ladders(const std::vector<int64_t>& periods, const std::vector<Sketch>& sketches);

}  // namespace lengthwise
