#include "theory/fourier_code.h"

#include <cmath>
#include <numbers>

#include "core/error.h"
#include "core/rng.h"
#include "theory/construction.h"
#include "theory/position_code.h"

namespace lengthwise {
namespace {

constexpr int kDraws = 64;

double highest_side_peak(const FourierCode& code, int64_t length, double known) {
  double highest = -1;
  for (int64_t distance = 1; distance < length && highest < known; ++distance)
    highest = std::max(highest, mean_cosine(code, distance));
  return highest;
}

int64_t plane_dim(size_t plane) {
  return code_dims::free + 2 * static_cast<int64_t>(plane);
}

}  // namespace

double mean_cosine(const FourierCode& code, int64_t distance) {
  double sum = 0;
  for (const double frequency : code.frequencies) sum += std::cos(frequency * static_cast<double>(distance));
  return sum / static_cast<double>(code.frequencies.size());
}

FourierCode sharp_code(int64_t planes, int64_t length) {
  FourierCode best;
  double lowest = 2;
  for (int draw = 0; draw < kDraws; ++draw) {
    Rng rng = Rng(static_cast<uint64_t>(draw)).stream("frequencies");
    FourierCode code;
    // One in each part of (0, pi), so that the nearest distances are far below the peak in every draw.
    for (int64_t plane = 0; plane < planes; ++plane) {
      const double share = (static_cast<double>(plane) + static_cast<double>(rng.next()) * 0x1p-32);
      code.frequencies.push_back(std::numbers::pi * share / static_cast<double>(planes));
    }
    const double peak = highest_side_peak(code, length, lowest);
    if (peak >= lowest) continue;
    lowest = peak;
    best = code;
  }
  return best;
}

void write_code(Decoder& decoder, const FourierCode& code, int64_t length) {
  std::vector<WrittenDim> written{{code_dims::position, std::vector<double>(static_cast<size_t>(length), 0.0)}};
  for (size_t plane = 0; plane < code.frequencies.size(); ++plane) {
    WrittenDim cosine{plane_dim(plane), {}};
    WrittenDim sine{plane_dim(plane) + 1, {}};
    for (int64_t t = 1; t <= length; ++t) {
      cosine.values.push_back(std::cos(code.frequencies[plane] * static_cast<double>(t)));
      sine.values.push_back(std::sin(code.frequencies[plane] * static_cast<double>(t)));
    }
    written.push_back(cosine);
    written.push_back(sine);
  }
  write_positions(decoder, kFirstToken, written);
}

double attend_by_distance(Decoder& decoder, int64_t layer, int64_t head, const FourierCode& code,
                          const std::vector<double>& cosines, const std::vector<double>& sines) {
  const auto planes = static_cast<double>(code.frequencies.size());
  const double divisor = norm_divisor(decoder, 2 + planes + static_cast<double>(content_count(decoder)));
  double squares = 0;
  for (size_t c = 0; c < cosines.size(); ++c) squares += cosines[c] * cosines[c] + sines[c] * sines[c];
  // Queries of norm sqrt(squares) and keys of norm sqrt(planes) share what the score needs.
  const double whole = std::sqrt(squares) * std::sqrt(planes) / decoder.score_scale();
  const double query = std::sqrt(whole / squares) * divisor;
  const double key = std::sqrt(whole / planes) * divisor;
  std::vector<HeadEntry> queries, keys;
  for (size_t c = 0; c < code.frequencies.size(); ++c) {
    const int64_t from = plane_dim(c);
    const auto to = 2 * static_cast<int64_t>(c);
    queries.push_back({from, to, query * cosines[c]});
    queries.push_back({from, to + 1, -query * sines[c]});
    queries.push_back({from + 1, to, query * sines[c]});
    queries.push_back({from + 1, to + 1, query * cosines[c]});
    keys.push_back({from, to, key});
    keys.push_back({from + 1, to + 1, key});
  }
  set_projection(decoder, layer, head, Projection::query, queries);
  set_projection(decoder, layer, head, Projection::key, keys);
  return std::sqrt(whole);
}

}  // namespace lengthwise
