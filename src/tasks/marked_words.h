#pragma once
/// Tasks about the places of marks among random words, `position` and `distance`. Their answers are numbers that
/// nothing else tells:
///
/// * The other words are drawn independently of the marks and of each other, and a word is one token.
/// * Given the number of words, which a model can know, each of its answers is equally likely.
/// * In training every pair of a length and an answer is equally frequent, so that a length has examples in proportion
///   to its answers. With equally many of each length from 1 to 20 the position 1 would be 72 times as frequent as 20;
///   so it is 20 times. Tests have equally many of each length.
/// * Numbers beyond training are made of tokens that training had: decimal digits, each a token, or (`-unary`) as many
///   strokes as the number has ones. No decoder trained up to 20 has ever written a 3 before another digit; strokes can
///   simply go on. Digits ask whether a place is known, strokes how far beyond training it is.
///
/// The category of an example is its length and the ten in which the answer lies, `40-at-31:40`: long sequences have
/// small answers too, and who finds a mark there need not have learned to count further.
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "tasks/task.h"

namespace lengthwise {

enum class Numerals { digits, unary };

class MarkedWords : public Task {
 public:
  const TaskInfo& info() const override { return info_; }
  void generate(const Draw& draw, const Style& style, Example& out) const override;
  std::string solve(std::string_view prompt, const Scratchpad& scratchpad) const override;
  std::vector<std::string> lexicon() const override;
  std::vector<Bin> plan(LengthRange lengths, int64_t count, Split split) const override;

 protected:
  /// `question` is what the prompt begins with; the marks are the words X, Y, ... in this order.
  MarkedWords(const std::string& name, const std::string& summary, std::string question, size_t marks,
              Numerals numerals);

  /// Chooses the places of the marks, counted from 1 and rising, and says what the answer is: each of the length's
  /// answers with the same probability. One mark has as many as there are words, two have one less.
  virtual int64_t place_marks(Rng& rng, int64_t length, std::span<int64_t> places) const = 0;

  /// The answer, from the places found in a prompt.
  virtual int64_t measure(std::span<const int64_t> places) const = 0;

 private:
  std::string sentence(int64_t answer) const;

  const TaskInfo info_;
  const std::string question_;
  const size_t marks_;
  const Numerals numerals_;
};

}  // namespace lengthwise
