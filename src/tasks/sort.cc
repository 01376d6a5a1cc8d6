#include <algorithm>
#include <array>

#include "core/error.h"
#include "core/text.h"
#include "tasks/answer_text.h"
#include "tasks/prompt_reader.h"
#include "tasks/registry.h"
#include "tasks/scratchpad.h"
#include "tasks/scratchpad_check.h"

namespace lengthwise {
namespace {

/// What the items are. `token`: one token each, by their rank; the printed wording writes the rank, the released one a
/// symbol. `digits`: numbers with their digits spaced.
enum class Items { token, digits };

using List = std::vector<int64_t>;

/// The symbols of the released wording in their order. The authors' list begins with those of the digits, small letters
/// and capital letters that are one token for their tokenizer and goes on with words; which words is not known.
constexpr std::array<std::string_view, 79> kSymbols{
    "0",     "1",     "2",    "3",     "4",    "5",    "6",     "7",     "8",     "9",     "a",     "b",
    "c",     "d",     "e",    "f",     "g",    "h",    "i",     "j",     "k",     "l",     "m",     "n",
    "o",     "p",     "q",    "r",     "s",    "t",    "u",     "v",     "w",     "x",     "y",     "z",
    "A",     "B",     "C",    "D",     "E",    "F",    "G",     "H",     "I",     "J",     "K",     "L",
    "M",     "N",     "O",    "P",     "Q",    "R",    "S",     "T",     "U",     "V",     "W",     "X",
    "Y",     "Z",     "red",  "green", "blue", "gold", "black", "white", "house", "water", "river", "tree",
    "stone", "light", "city", "road",  "book", "door", "hand"};
constexpr size_t kFirstWord = 62;

/// Those that are drawn: one token each for the study's tokenizer, which `0`, `X`, `Y` and the small letters are not.
constexpr size_t kDrawn = 50;
constexpr std::array<int64_t, kDrawn> kDrawnSymbols = [] {
  std::array<int64_t, kDrawn> drawn{};
  size_t rank = 0;
  for (size_t i = 0; i < kSymbols.size(); ++i) {
    const char first = kSymbols[i][0];
    const bool one_token = i >= kFirstWord || (first > '0' && first <= '9') ||
                           (first >= 'A' && first <= 'Z' && first != 'X' && first != 'Y');
    if (one_token) drawn[rank++] = static_cast<int64_t>(i);
  }
  return drawn;
}();

constexpr int64_t kSmallest = 10;  // of `digits`
constexpr int64_t kLargest = 9999;

void append_item(std::string& text, int64_t item, Items items, Wording wording) {
  if (items == Items::digits) {
    append_spaced(text, item);
  } else if (wording == Wording::printed) {
    append_number(text, item);
  } else {
    text += kSymbols[static_cast<size_t>(item)];
  }
}

/// Items separated by commas, printed single tokens by spaces alone; in brackets where released.
void append_list(std::string& text, const List& list, size_t first, Items items, Wording wording) {
  const bool spaces = items == Items::token && wording == Wording::printed;
  if (wording == Wording::released) text += "[ ";
  for (size_t i = first; i < list.size(); ++i) {
    if (i > first) text += spaces ? " " : ", ";
    append_item(text, list[i], items, wording);
  }
  if (wording == Wording::released) text += first < list.size() ? " ]" : "]";
}

void append_prompt(const List& list, Items items, Wording wording, std::string& text) {
  const bool printed = wording == Wording::printed;
  text += printed ? "Sort the following numbers: " : "Sort the following list ";
  append_list(text, list, 0, items, wording);
  text += printed ? " ?" : ".";
}

/// Selection sort by swapping, one step per place. `list` is sorted in the course of it.
void append_steps(List& list, Items items, Wording wording, const Scratchpad& format, std::string& text) {
  ScratchpadWriter pad(format, text);
  for (size_t front = 0; front < list.size(); ++front) {
    const auto begin = list.begin() + static_cast<std::ptrdiff_t>(front);
    const auto minimum = std::min_element(begin, list.end());
    pad.begin_step();
    if (pad.input()) {
      text += ' ';
      append_item(text, *begin, items, wording);
    }
    if (pad.computation()) text += " The minimum of the unsorted portion";
    if (pad.output()) {
      text += ' ';
      append_item(text, *minimum, items, wording);
    }
    std::iter_swap(begin, minimum);
    if (pad.remaining() && (wording == Wording::released || front + 1 < list.size())) {
      text += ' ';
      append_list(text, list, front + 1, items, wording);
    }
  }
  pad.finish();
}

void append_target(List& list, const List& sorted, Items items, Wording wording, const Scratchpad& format,
                   std::string& text) {
  if (format.any()) append_steps(list, items, wording, format, text);
  text += wording == Wording::printed ? "The answer is " : "The sorted list is ";
  append_list(text, sorted, 0, items, wording);
  text += '.';
}

int64_t read_item(PromptReader& reader, Items items, Wording wording) {
  if (items == Items::digits) return reader.natural();
  if (wording == Wording::printed) return reader.number_word();
  const std::string_view piece = reader.peek();
  const auto found = std::find(kSymbols.begin(), kSymbols.end(), piece);
  if (found == kSymbols.end()) {
    reader.fail_expected("one of the symbols 0-9, a-z, A-Z, " +
                         join(std::vector<std::string>(kSymbols.begin() + kFirstWord, kSymbols.end()), ", "));
  }
  reader.word();
  return found - kSymbols.begin();
}

class Sort : public Task {
 public:
  explicit Sort(Items items)
      : items_(items),
        info_{.name = items == Items::token ? "sort" : "sort-multi",
              .summary = items == Items::token ? "sort numbers of one token each" : "sort numbers of several digits",
              .group = "reasoning",
              .paper = items == Items::token ? "s2s_sort/len_sngd_tr8_ts16" : "s2s_sort/len_mltd_tr8_ts16",
              .unit = "numbers",
              .train = {2, 8},
              .test = {9, 16},
              .scratchpad = true,
              .answer = items == Items::token ? AnswerKind::list : AnswerKind::number_list} {}

  const TaskInfo& info() const override { return info_; }

  void generate(const Draw& draw, const Style& style, Example& out) const override {
    Rng rng = draw.rng.at(static_cast<uint64_t>(draw.index));
    thread_local List list, sorted;
    list.resize(static_cast<size_t>(draw.bin.length));
    for (int64_t& item : list) {
      item = items_ == Items::token ? static_cast<int64_t>(rng.below(kDrawn)) : rng.between(kSmallest, kLargest);
      if (items_ == Items::token && style.wording == Wording::released) item = kDrawnSymbols[static_cast<size_t>(item)];
    }
    sorted = list;
    std::sort(sorted.begin(), sorted.end());
    out.length = draw.bin.length;
    out.category.clear();
    append_number(out.category, out.length);
    out.prompt.clear();
    append_prompt(list, items_, style.wording, out.prompt);
    out.target.clear();
    append_target(list, sorted, items_, style.wording, checked_scratchpad(info_, style.scratchpad, out.length),
                  out.target);
  }

  std::string solve(std::string_view prompt, const Scratchpad& scratchpad) const override {
    PromptReader reader(prompt);
    reader.expect("Sort the following");
    const Wording wording = reader.accept("numbers:") ? Wording::printed : Wording::released;
    const bool printed = wording == Wording::printed;
    if (!printed && !reader.accept("list [")) reader.fail_expected("'numbers:' or 'list ['");
    const bool spaces = printed && items_ == Items::token;
    List list;
    do {
      list.push_back(read_item(reader, items_, wording));
    } while (spaces ? reader.at_word() : reader.accept(","));
    reader.expect(printed ? "?" : "].");
    reader.expect_end();
    List sorted = list;
    std::make_heap(sorted.begin(), sorted.end());
    std::sort_heap(sorted.begin(), sorted.end());
    std::string target;
    append_target(list, sorted, items_, wording,
                  checked_scratchpad(info_, scratchpad, static_cast<int64_t>(list.size())), target);
    return target;
  }

  std::vector<std::string> lexicon() const override {
    std::vector<std::string> texts{"Sort the following numbers: 3 ?",     "The answer is 3.",
                                   "Sort the following list [ 1, 2 ].",   "The sorted list is [ 1, 2 ].",
                                   "The minimum of the unsorted portion", scratchpad_lexicon()};
    std::string items;
    if (items_ == Items::digits) {
      items = digit_lexicon();
    } else {
      for (size_t rank = 0; rank < kDrawn; ++rank) {
        items += fmt::format("{} {} ", rank, kSymbols[static_cast<size_t>(kDrawnSymbols[rank])]);
      }
    }
    texts.push_back(items);
    if (items_ == Items::token) texts.push_back(digit_lexicon());
    return texts;
  }

 private:
  const Items items_;
  const TaskInfo info_;
};

}  // namespace

TaskList make_sort() {
  TaskList list;
  list.push_back(std::make_unique<Sort>(Items::token));
  list.push_back(std::make_unique<Sort>(Items::digits));
  return list;
}

}  // namespace lengthwise
