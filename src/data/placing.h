#pragma once
/// Positions by rule (core/position_rule.h) of the tokens of a sequence, whether it is read, scored or being written.
///
/// Random rules. A sequence has room for `room` tokens for each one of its prompt; so many positions are drawn at once
/// and put into order, and its tokens take them from the first on. So a token's position depends on the prompt and on
/// nothing that comes after it: scoring, generation and every prefix agree, and positions do not tell how long the
/// answer is to be, as they would if exactly as many were drawn as the right answer has. What runs past the room stands
/// close together at the end.
///
/// In training they depend on the run's seed, the step and the example. The paper of randomized positions (2305.16843)
/// draws them in evaluation as well, other codes count from 0 there; ours draws, by the prompt's tokens alone: the same
/// problem has the same positions in every evaluation, on every device and in whichever batch.
///
/// Digits and coupled positions follow from the tokens. In training, digits of one step move by one random number and
/// coupled positions of a sequence by one of its own, so that every position that longer numbers need is trained; in
/// evaluation they begin at 1.
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/position_rule.h"
#include "core/rng.h"
#include "data/glossary.h"
#include "data/token_set.h"

namespace lengthwise {

/// Where the random numbers of a sequence's positions come from.
class PositionDraw {
 public:
  /// In step `step` of training; `rng` is the run's.
  static PositionDraw training(const Rng& rng, int64_t step, int64_t example);
  /// Outside training.
  static PositionDraw fixed(std::span<const int32_t> prompt);

  bool trains() const { return trains_; }
  Rng of_sequence() const { return sequence_; }
  Rng of_step() const { return step_; }

 private:
  PositionDraw(Rng sequence, Rng step, bool trains) : sequence_(sequence), step_(step), trains_(trains) {}

  Rng sequence_, step_;
  bool trains_;
};

struct Placing {
  std::vector<PositionRule> rules;  ///< what the encoding states; empty: the index is all it asks for
  std::shared_ptr<const Glossary>
      glossary;  ///< null: nothing is known of the tokens, and all have position 0 by content

  /// Positions of `tokens`, of which the first `prompt` are the prompt, by the rule of that number.
  std::vector<double> place(size_t rule, std::span<const int32_t> tokens, int64_t prompt,
                            const PositionDraw& draw) const;

  /// UserError where a rule cannot be applied: no token is a digit, or the task couples nothing. `encoding` names it.
  void check(const std::string& encoding) const;
  /// UserError where an example has more digits, or coupled positions, than there are positions.
  void check(const std::string& encoding, const TokenSet& set) const;
};

}  // namespace lengthwise
