#include <algorithm>

#include "core/error.h"
#include "core/text.h"
#include "tasks/answer_text.h"
#include "tasks/registry.h"
#include "tasks/scratchpad_check.h"

namespace lengthwise {

TaskList make_addition();

namespace {

constexpr int64_t kMarkers = 128;

/// The place of a marker word, `h0` .. `h127`; -1: it is none.
int64_t marker_of(std::string_view word) {
  if (word.size() < 2 || word.size() > 4 || word[0] != 'h') return -1;
  int64_t place = 0;
  for (const char c : word.substr(1)) {
    if (!is_digit(c)) return -1;
    place = 10 * place + (c - '0');
  }
  return place < kMarkers && (word[1] != '0' || word.size() == 2) ? place : -1;
}

/// A digit by itself or with the symbol behind it, as some ways of cutting text have it: `3`, `3.`
bool begins_with_digit(std::string_view piece) {
  return !piece.empty() && is_digit(piece[0]) && (piece.size() == 1 || (piece.size() == 2 && !is_digit(piece[1])));
}

/// The text with the digits of every number in the other order: `5 3 + 1 9 ?` becomes `3 5 + 9 1 ?`. A number is digits
/// with spaces between them.
void reverse_numbers(std::string& text) {
  for (size_t begin = 0; begin < text.size(); ++begin) {
    if (!is_digit(text[begin])) continue;
    size_t last = begin;
    for (size_t at = begin + 1; at < text.size() && (is_digit(text[at]) || text[at] == ' '); ++at) {
      if (is_digit(text[at])) last = at;
    }
    std::reverse(text.begin() + static_cast<int64_t>(begin), text.begin() + static_cast<int64_t>(last) + 1);
    begin = last;
  }
}

/// `3 5 + 9 1 ?` with markers before its digits, from `start` on in every number: `h7 3 h8 5 + h7 9 h8 1 ?`.
std::string with_hints(std::string_view text, int64_t start) {
  std::string hinted;
  int64_t place = start;
  for (const char c : text) {
    if (is_digit(c)) {
      hinted += 'h';
      append_number(hinted, place++);
      hinted += ' ';
    } else if (c != ' ') {
      place = start;
    }
    hinted += c;
  }
  return hinted;
}

std::string without_hints(std::string_view text) {
  std::string plain;
  for (const std::string_view word : split_words(text)) {
    if (marker_of(word) >= 0) continue;
    if (!plain.empty()) plain += ' ';
    plain += word;
  }
  return plain;
}

/// Addition with every number written least significant digit first, in the problem and in the answer:
///
///     addition-reversed        Compute: 3 5 + 9 1 ?   The answer is 2 7.
///     addition-reversed-hints  Compute: h7 3 h8 5 + h7 9 h8 1 ?   The answer is h7 2 h8 7.
///
/// The same problems as addition's. A digit of the answer then needs only what stands before it, its significance is
/// known while it is written, and the digits of the same significance can be coupled. Index hints are such a coupling
/// in words: before a digit stands a marker, the same for the same significance, from a random one on in each example
/// (Zhou et al. 2023, 2310.16028).
class ReversedAddition : public Task {
 public:
  explicit ReversedAddition(bool hints)
      : hints_(hints), plain_(std::move(make_addition().front())), info_(plain_->info()) {
    info_.name = hints ? "addition-reversed-hints" : "addition-reversed";
    info_.summary = hints ? "add numbers written in reverse, a marker of its place before each digit"
                          : "add two numbers written least significant digit first";
    info_.group.clear();
    info_.paper.clear();
    info_.scratchpad = info_.variables = false;
    info_.answer = AnswerKind::statement;
  }

  const TaskInfo& info() const override { return info_; }

  std::vector<Bin> plan(LengthRange lengths, int64_t count, Split split) const override {
    if (hints_ && lengths.high + 1 > kMarkers) {
      fail("{}: there are {} markers, and lengths go up to {}; these are {}", info_.name, kMarkers, kMarkers - 1,
           to_text(lengths));
    }
    return plain_->plan(lengths, count, split);
  }

  void generate(const Draw& draw, const Style& style, Example& out) const override {
    checked_scratchpad(info_, style.scratchpad, draw.bin.length);
    plain_->generate(draw, style, out);
    Rng rng = draw.rng.at(static_cast<uint64_t>(draw.index)).stream("hints");
    const int64_t start = hints_ ? rng.between(0, kMarkers - out.length - 1) : -1;
    rewrite(out.prompt, start);
    rewrite(out.target, start);
  }

  std::string solve(std::string_view prompt, const Scratchpad& scratchpad) const override {
    checked_scratchpad(info_, scratchpad, 0);
    int64_t start = -1;
    for (const std::string_view word : split_words(prompt)) {
      if (start < 0) start = marker_of(word);
    }
    if (hints_ && start < 0)
      fail("cannot parse \"{}\": expected a marker such as h7 before each digit", excerpt(prompt));
    std::string problem = hints_ ? without_hints(prompt) : collapse_spaces(prompt);
    if (hints_ && with_hints(problem, start) != collapse_spaces(prompt)) {
      fail("cannot parse \"{}\": expected markers h{} and so on before the digits of each number", excerpt(prompt),
           start);
    }
    reverse_numbers(problem);
    std::string target = plain_->solve(problem, {});
    rewrite(target, hints_ ? start : -1);
    return target;
  }

  std::vector<std::string> lexicon() const override {
    std::vector<std::string> texts = plain_->lexicon();
    std::string markers;
    for (int64_t place = 0; hints_ && place < kMarkers; ++place) markers += fmt::format("h{} ", place);
    if (hints_) texts.push_back(markers);
    return texts;
  }

  /// 2, 3, ... for the digits of every number from its first, least significant one on; 1 for `+` and `?`, which stand
  /// where the next number begins.
  void couple(std::span<const std::string_view> pieces, size_t, std::span<int32_t> ids) const override {
    int32_t place = 2;
    for (size_t i = 0; i < pieces.size(); ++i) {
      const std::string_view piece = pieces[i];
      ids[i] = 0;
      if (begins_with_digit(piece)) {
        ids[i] = place++;
      } else if (!piece.empty() && marker_of(piece) < 0) {  // a space, or a marker, stands within a number
        ids[i] = piece == "+" || piece == "?" ? 1 : 0;
        place = 2;
      }
    }
  }
  bool couples() const override { return true; }

 private:
  static void rewrite(std::string& text, int64_t start) {
    reverse_numbers(text);
    if (start >= 0) text = with_hints(text, start);
  }

  bool hints_;
  std::unique_ptr<Task> plain_;
  TaskInfo info_;
};

}  // namespace

TaskList make_reversed_addition() {
  TaskList list;
  list.push_back(std::make_unique<ReversedAddition>(false));
  list.push_back(std::make_unique<ReversedAddition>(true));
  return list;
}

}  // namespace lengthwise
