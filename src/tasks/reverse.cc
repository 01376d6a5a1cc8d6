#include <algorithm>

#include "core/error.h"
#include "tasks/answer_text.h"
#include "tasks/registry.h"
#include "tasks/scratchpad_check.h"
#include "tasks/word_list.h"

namespace lengthwise {
namespace {

/// What the target has after the reversed words.
enum class Second { nothing, reversed, original };

struct Variant {
  const char* split;  ///< the authors' name of it
  const char* name;
  const char* summary;
  Second second;
};

constexpr Variant kVariants[] = {
    {"mc", "reverse", "reverse random words", Second::nothing},
    {"mc2x", "reverse-mc2x", "reverse random words, twice", Second::reversed},
    {"mcrv", "reverse-mcrv", "reverse random words, then write them forwards", Second::original},
};

constexpr uint32_t kAlphabet = 100;

class Reverse : public Task {
 public:
  explicit Reverse(const Variant& variant)
      : second_(variant.second),
        info_{.name = variant.name,
              .summary = variant.summary,
              .group = "primitive",
              .paper = fmt::format("s2s_reverse/{}_tr20_ts40", variant.split),
              .unit = "words",
              .train = {2, 20},
              .test = {21, 40}} {}

  const TaskInfo& info() const override { return info_; }

  void generate(const Draw& draw, const Style& style, Example& out) const override {
    checked_scratchpad(info_, style.scratchpad, draw.bin.length);
    Rng rng = draw.rng.at(static_cast<uint64_t>(draw.index));
    thread_local std::vector<uint32_t> words;
    draw_words(rng, kAlphabet, draw.bin.length, words);
    out.length = draw.bin.length;
    out.category.clear();
    append_number(out.category, out.length);
    out.prompt.clear();
    append_word_instruction(out.prompt, "Reverse", style.wording);
    append_words(out.prompt, words);
    if (style.wording == Wording::released) out.prompt += " [SEP]";
    out.target.clear();
    append_backwards(out.target, words);
    if (second_ == Second::nothing) return;
    out.target += " [NEXT]";
    if (second_ == Second::reversed) {
      append_backwards(out.target, words);
    } else {
      append_words(out.target, words);
    }
  }

  std::string solve(std::string_view prompt, const Scratchpad& scratchpad) const override {
    PromptReader reader(prompt);
    reader.expect("Reverse");
    std::vector<std::string_view> words = read_word_prompt(reader).words;
    checked_scratchpad(info_, scratchpad, static_cast<int64_t>(words.size()));
    std::reverse(words.begin(), words.end());
    std::string target;
    append_words(target, words);
    if (second_ == Second::nothing) return target;
    target += " [NEXT]";
    if (second_ == Second::original) std::reverse(words.begin(), words.end());
    append_words(target, words);
    return target;
  }

  std::vector<std::string> lexicon() const override {
    std::vector<std::string> texts{"Reverse: [SEP] Reverse the following words:", word_lexicon(kAlphabet)};
    if (second_ != Second::nothing) texts.emplace_back("[NEXT]");
    return texts;
  }

 private:
  static void append_backwards(std::string& text, const std::vector<uint32_t>& words) {
    for (size_t i = words.size(); i-- > 0;) append_word(text, word(words[i]));
  }

  const Second second_;
  const TaskInfo info_;
};

}  // namespace

TaskList make_reverse() {
  TaskList list;
  for (const Variant& variant : kVariants) list.push_back(std::make_unique<Reverse>(variant));
  return list;
}

}  // namespace lengthwise
