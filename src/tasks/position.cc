#include "tasks/marked_words.h"
#include "tasks/registry.h"

namespace lengthwise {
namespace {

/// Which of the words is the mark, counted from 1.
class Position : public MarkedWords {
 public:
  explicit Position(Numerals numerals)
      : MarkedWords("position", "say at which place the mark stands", "Which place is marked in", 1, numerals) {}

 protected:
  int64_t place_marks(Rng& rng, int64_t length, std::span<int64_t> places) const override {
    return places[0] = rng.between(1, length);
  }

  int64_t measure(std::span<const int64_t> places) const override { return places[0]; }
};

}  // namespace

TaskList make_position() {
  TaskList list;
  for (const Numerals each : {Numerals::digits, Numerals::unary}) list.push_back(std::make_unique<Position>(each));
  return list;
}

}  // namespace lengthwise
