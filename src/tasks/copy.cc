#include <algorithm>
#include <numeric>

#include "core/error.h"
#include "tasks/answer_text.h"
#include "tasks/permutation.h"
#include "tasks/registry.h"
#include "tasks/scratchpad_check.h"
#include "tasks/word_list.h"

namespace lengthwise {
namespace {

enum class Content { random, repeated, replaced };

struct Variant {
  const char* split;  ///< the authors' name of it
  const char* name;
  const char* summary;
  Content content;
  uint32_t alphabet;
  bool twice;
};

constexpr uint32_t kReplaceWords = 78;
constexpr uint32_t kReplacePairs = kReplaceWords * (kReplaceWords - 1);

constexpr Variant kVariants[] = {
    {"cmc", "copy", "copy random words", Content::random, 100, false},
    {"rsc", "copy-rsc", "copy one word as often as it is repeated", Content::repeated, kMaxWords, false},
    {"rsc2x", "copy-rsc2x", "write one word twice as often as it is repeated", Content::repeated, kMaxWords, true},
    {"rdc", "copy-rdc", "replace every repetition of one word with another", Content::replaced, kReplaceWords, false},
    {"cmc2x", "copy-cmc2x", "copy random words twice", Content::random, 100, true},
};

/// The numbers 0..size-1 in a fixed random order. A bin that uses up all words has each as often as the others; a
/// smaller one has to be a fair sample of them, which the first so many words (or pairs with one and the same first
/// word) would not be.
std::vector<uint32_t> shuffled(uint32_t size) {
  std::vector<uint32_t> order(size);
  std::iota(order.begin(), order.end(), 0u);
  Rng(size).stream("order of words").shuffle(std::span<uint32_t>(order));
  return order;
}

/// Which of `order.size()` things example `draw.index` is about: each in turn in a training pool; in a test, random
/// ones of which none comes twice before all have come. (Version 1 drew them with replacement.)
uint32_t pick(const Draw& draw, Rng& rng, const std::vector<uint32_t>& order) {
  if (draw.split == Split::test) {
    if (draw.version == 1) return static_cast<uint32_t>(rng.below(order.size()));
    const auto index = static_cast<uint64_t>(draw.index);
    return static_cast<uint32_t>(
        permuted(index % order.size(), order.size(), draw.rng.stream("test order").at(index / order.size())));
  }
  const uint64_t start = draw.rng.stream("start").below(order.size());
  return order[(start + static_cast<uint64_t>(draw.index)) % order.size()];
}

/// `replaced`: the prompt repeats `from`, and the target `to`. `repeated`: the two are the same.
struct Repetition {
  uint32_t from = 0;
  uint32_t to = 0;
};

Repetition draw_repetition(const Draw& draw, Rng& rng, Content content) {
  static const std::vector<uint32_t> words = shuffled(kMaxWords);
  static const std::vector<uint32_t> pairs = shuffled(kReplacePairs);
  if (content == Content::repeated) {
    const uint32_t index = pick(draw, rng, words);
    return {index, index};
  }
  const uint32_t pair = pick(draw, rng, pairs);
  const uint32_t from = pair / (kReplaceWords - 1);
  const uint32_t to = pair % (kReplaceWords - 1);
  return {from, to < from ? to : to + 1};
}

class Copy : public Task {
 public:
  explicit Copy(const Variant& variant)
      : variant_(variant),
        info_{.name = variant.name,
              .summary = variant.summary,
              .group = "primitive",
              .paper = fmt::format("s2s_copy/{}_tr20_ts40", variant.split),
              .unit = "words",
              .train = {2, 20},
              .test = {21, 40},
              .data_version = variant.content == Content::random ? 1 : 2} {}

  const TaskInfo& info() const override { return info_; }

  std::vector<Bin> plan(LengthRange lengths, int64_t count, Split split) const override {
    std::vector<Bin> bins = equal_bins(lengths, count);
    if (variant_.content == Content::replaced && split != Split::test) {
      for (Bin& bin : bins) bin.count = std::min<int64_t>(bin.count, kReplacePairs);
    }
    return bins;
  }

  void generate(const Draw& draw, const Style& style, Example& out) const override {
    checked_scratchpad(info_, style.scratchpad, draw.bin.length);
    Rng rng = draw.rng.at(static_cast<uint64_t>(draw.index));
    out.length = draw.bin.length;
    out.category.clear();
    append_number(out.category, out.length);
    out.prompt.clear();
    out.target.clear();
    if (variant_.content == Content::random) {
      thread_local std::vector<uint32_t> words;
      draw_words(rng, variant_.alphabet, out.length, words);
      append_word_instruction(out.prompt, "Copy", style.wording);
      append_words(out.prompt, words);
      append_words(out.target, words);
      if (marks_second()) {
        out.target += " [NEXT]";
        append_words(out.target, words);
      }
    } else {
      const Repetition repetition = draw_repetition(draw, rng, variant_.content);
      begin_repetition(out.prompt, repetition, style.wording);
      for (int64_t i = 0; i < out.length; ++i) append_word(out.prompt, word(repetition.from));
      for (int64_t i = 0; i < (variant_.twice ? 2 : 1) * out.length; ++i) append_word(out.target, word(repetition.to));
    }
    if (style.wording == Wording::released) out.prompt += " [SEP]";
  }

  std::string solve(std::string_view prompt, const Scratchpad& scratchpad) const override {
    PromptReader reader(prompt);
    std::vector<std::string_view> words;
    std::string_view from, to;
    if (variant_.content == Content::replaced) {
      reader.expect("Replace");
      from = reader.chunk();
      reader.expect("with");
      to = reader.chunk();
      reader.expect("in");
      reader.accept("the following words:");
      words = read_words_to_end(reader);
    } else {
      reader.expect("Copy");
      words = read_word_prompt(reader).words;
      from = to = words.front();
    }
    checked_scratchpad(info_, scratchpad, static_cast<int64_t>(words.size()));
    if (variant_.content != Content::random) {
      for (std::string_view& each : words) {
        if (each != from) {
          reader.fail_because(fmt::format("{} repeats one word, and '{}' is not '{}'", info_.name, excerpt(each, 20),
                                          excerpt(from, 20)));
        }
        each = to;
      }
    }
    std::string target;
    append_words(target, words);
    if (variant_.twice) {
      if (marks_second()) target += " [NEXT]";
      append_words(target, words);
    }
    return target;
  }

  std::vector<std::string> lexicon() const override {
    std::vector<std::string> texts{word_lexicon(variant_.alphabet)};
    texts.emplace_back(variant_.content == Content::replaced ? "Replace with in the following words: [SEP]"
                                                             : "Copy: [SEP] Copy the following words:");
    if (marks_second()) texts.emplace_back("[NEXT]");
    return texts;
  }

 private:
  /// Between two copies of one repeated word there is nothing to tell where the second begins.
  bool marks_second() const { return variant_.twice && variant_.content == Content::random; }

  void begin_repetition(std::string& text, const Repetition& repetition, Wording wording) const {
    if (variant_.content == Content::repeated) {
      append_word_instruction(text, "Copy", wording);
      return;
    }
    text += "Replace ";
    text += word(repetition.from);
    text += " with ";
    text += word(repetition.to);
    text += wording == Wording::printed ? " in the following words:" : " in";
  }

  const Variant variant_;
  const TaskInfo info_;
};

}  // namespace

TaskList make_copy() {
  TaskList list;
  for (const Variant& variant : kVariants) list.push_back(std::make_unique<Copy>(variant));
  return list;
}

}  // namespace lengthwise
