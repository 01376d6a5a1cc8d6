#include "tasks/marked_words.h"

#include <algorithm>

#include "core/error.h"
#include "tasks/answer_text.h"
#include "tasks/prompt_reader.h"
#include "tasks/scratchpad_check.h"
#include "tasks/word_list.h"

namespace lengthwise {
namespace {

constexpr uint32_t kAlphabet = 20;
constexpr std::string_view kMarks[] = {"X", "Y"};

}  // namespace

MarkedWords::MarkedWords(const std::string& name, const std::string& summary, std::string question, size_t marks,
                         Numerals numerals)
    : info_{.name = numerals == Numerals::unary ? name + "-unary" : name,
            .summary = numerals == Numerals::unary ? summary + ", in strokes" : summary,
            .group = "",
            .paper = "",
            .unit = "words",
            .train = {static_cast<int64_t>(marks), 20},
            .test = {21, 40},
            .answer = numerals == Numerals::unary ? AnswerKind::statement : AnswerKind::number},
      question_(std::move(question)),
      marks_(marks),
      numerals_(numerals) {
  LENGTHWISE_CHECK(marks_ >= 1 && marks_ <= std::size(kMarks), "{} marks", marks_);
}

std::string MarkedWords::sentence(int64_t answer) const {
  std::string text = "The answer is";
  if (numerals_ == Numerals::unary) {
    for (int64_t i = 0; i < answer; ++i) text += " I";
  } else {
    text += ' ';
    append_spaced(text, answer);
  }
  text += '.';
  return text;
}

std::vector<Bin> MarkedWords::plan(LengthRange lengths, int64_t count, Split split) const {
  const auto shortest = static_cast<int64_t>(marks_);
  if (lengths.low < shortest) {
    fail("{}: a sequence has at least {} words, one for each mark; these lengths are {}", info_.name, shortest,
         to_text(lengths));
  }
  if (split == Split::test) return equal_bins(lengths, count);
  std::vector<double> answers;
  for (int64_t length = lengths.low; length <= lengths.high; ++length) {
    answers.push_back(static_cast<double>(length - shortest + 1));
  }
  return weighted_bins(lengths, count, answers);
}

void MarkedWords::generate(const Draw& draw, const Style& style, Example& out) const {
  checked_scratchpad(info_, style.scratchpad, draw.bin.length);
  Rng rng = draw.rng.at(static_cast<uint64_t>(draw.index));
  int64_t places[std::size(kMarks)];
  const int64_t answer = place_marks(rng, draw.bin.length, {places, marks_});
  out.length = draw.bin.length;
  const int64_t tens = (answer - 1) / 10 * 10;
  out.category.clear();
  append_number(out.category, out.length);
  out.category += "-at-";
  append_number(out.category, tens + 1);
  out.category += ':';
  append_number(out.category, tens + 10);
  out.prompt = question_;
  size_t mark = 0;
  for (int64_t place = 1; place <= out.length; ++place) {
    const bool marked = mark < marks_ && places[mark] == place;
    append_word(out.prompt, marked ? kMarks[mark++] : word(static_cast<uint32_t>(rng.below(kAlphabet))));
  }
  out.prompt += " ?";
  out.target = sentence(answer);
}

std::string MarkedWords::solve(std::string_view prompt, const Scratchpad& scratchpad) const {
  PromptReader reader(prompt);
  reader.expect(question_);
  std::vector<int64_t> places;
  int64_t length = 0;
  while (reader.at_word()) {
    const std::string_view each = reader.word();
    ++length;
    const auto* const mark = std::find(kMarks, kMarks + marks_, each);
    if (mark == kMarks + marks_) continue;
    if (places.size() == marks_ || *mark != kMarks[places.size()])
      reader.fail_because(fmt::format("'{}' stands a second time, or before another mark", each));
    places.push_back(length);
  }
  if (length == 0) reader.fail_expected("a word");
  reader.expect("?");
  reader.expect_end();
  if (places.size() < marks_) reader.fail_because(fmt::format("there is no '{}'", kMarks[places.size()]));
  checked_scratchpad(info_, scratchpad, length);
  return sentence(measure(places));
}

std::vector<std::string> MarkedWords::lexicon() const {
  std::vector<std::string> texts{question_};
  for (size_t mark = 0; mark < marks_; ++mark) texts.emplace_back(kMarks[mark]);
  texts.insert(texts.end(), {word_lexicon(kAlphabet), "?", "The answer is I I."});
  if (numerals_ == Numerals::digits) texts.back() = "The answer is " + digit_lexicon();
  return texts;
}

}  // namespace lengthwise
