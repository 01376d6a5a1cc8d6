#include "tasks/marked_words.h"
#include "tasks/registry.h"

namespace lengthwise {
namespace {

/// How many steps it takes from the first mark to the second: 1 where they stand side by side.
class Distance : public MarkedWords {
 public:
  explicit Distance(Numerals numerals)
      : MarkedWords("distance", "say how far two marks stand apart", "How far apart are the marks in", 2, numerals) {}

 protected:
  /// The distance first: of all pairs of places most would be close to each other.
  int64_t place_marks(Rng& rng, int64_t length, std::span<int64_t> places) const override {
    const int64_t distance = rng.between(1, length - 1);
    places[0] = rng.between(1, length - distance);
    places[1] = places[0] + distance;
    return distance;
  }

  int64_t measure(std::span<const int64_t> places) const override { return places[1] - places[0]; }
};

}  // namespace

TaskList make_distance() {
  TaskList list;
  for (const Numerals each : {Numerals::digits, Numerals::unary}) list.push_back(std::make_unique<Distance>(each));
  return list;
}

}  // namespace lengthwise
