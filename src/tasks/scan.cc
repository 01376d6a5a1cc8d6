/// SCAN (Lake and Baroni 2018): commands of a small grammar and the actions they ask for.
///
///     command := phrase | phrase and phrase | phrase after phrase
///     phrase  := verb | verb twice | verb thrice
///     verb    := U | U D | turn D | U opposite D | turn opposite D | U around D | turn around D
///     U := walk | look | run | jump        D := left | right
///
/// 34 verbs, 102 phrases, 102 + 2 * 102^2 = 20,910 commands. They are not sampled: the data are all of them.
#include <array>

#include "core/error.h"
#include "tasks/answer_text.h"
#include "tasks/prompt_reader.h"
#include "tasks/registry.h"
#include "tasks/scratchpad_check.h"

namespace lengthwise {
namespace {

enum class Action : uint8_t { walk, look, run, jump, turn_left, turn_right };
using Actions = std::vector<Action>;

/// The names of the actions in a wording, in the order of `Action`.
const std::array<std::string_view, 6>& action_names(Wording wording) {
  static constexpr std::array<std::string_view, 6> kPrinted{"WALK", "LOOK", "RUN", "JUMP", "TURN_LEFT", "TURN_RIGHT"};
  static constexpr std::array<std::string_view, 6> kReleased{"Walk", "Look", "Run", "Jump", "Left", "Right"};
  return wording == Wording::printed ? kPrinted : kReleased;
}

std::string actions_text(const Actions& actions, Wording wording) {
  std::string text;
  for (const Action action : actions) {
    if (!text.empty()) text += ' ';
    text += action_names(wording)[static_cast<size_t>(action)];
  }
  return text;
}

// The generator: words and meaning grow together, so no command is ever parsed.

Actions in_turn(Actions first, const Actions& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

Actions times(const Actions& actions, int count) {
  Actions result;
  for (int i = 0; i < count; ++i) result = in_turn(std::move(result), actions);
  return result;
}

struct Meaning {
  std::string words;
  Actions actions;
};

std::vector<Meaning> all_verbs() {
  const Meaning acts[] = {{"walk", {Action::walk}},
                          {"look", {Action::look}},
                          {"run", {Action::run}},
                          {"jump", {Action::jump}},
                          {"turn", {}}};
  const Meaning turns[] = {{"left", {Action::turn_left}}, {"right", {Action::turn_right}}};
  std::vector<Meaning> verbs;
  for (const Meaning& act : acts) {
    if (!act.actions.empty()) verbs.push_back(act);
    for (const Meaning& turn : turns) {
      const Actions turned = in_turn(turn.actions, act.actions);
      verbs.push_back({act.words + " " + turn.words, turned});
      verbs.push_back({act.words + " opposite " + turn.words, in_turn(turn.actions, turned)});
      verbs.push_back({act.words + " around " + turn.words, times(turned, 4)});
    }
  }
  return verbs;
}

struct Phrase {
  std::string words;
  size_t length;                  ///< the number of actions
  std::string printed, released;  ///< the actions in either wording
};

std::vector<Phrase> all_phrases() {
  std::vector<Phrase> phrases;
  for (const Meaning& verb : all_verbs()) {
    const Meaning three[] = {
        verb, {verb.words + " twice", times(verb.actions, 2)}, {verb.words + " thrice", times(verb.actions, 3)}};
    for (const auto& [words, actions] : three) {
      phrases.push_back(
          {words, actions.size(), actions_text(actions, Wording::printed), actions_text(actions, Wording::released)});
    }
  }
  return phrases;
}

enum class Joint : uint8_t { none, and_then, after };

/// Two phrases by number and what joins them; `second` means nothing without a joint.
struct Command {
  Joint joint = Joint::none;
  uint8_t first = 0;
  uint8_t second = 0;
};

struct Grammar {
  std::vector<Phrase> phrases = all_phrases();
  std::vector<std::vector<Command>> by_length;  ///< [number of actions] commands in the order of enumeration

  Grammar() {
    const auto add = [&](Command command, size_t length) {
      if (by_length.size() <= length) by_length.resize(length + 1);
      by_length[length].push_back(command);
    };
    const auto count = static_cast<uint8_t>(phrases.size());
    for (uint8_t a = 0; a < count; ++a) {
      add({Joint::none, a, a}, phrases[a].length);
      for (uint8_t b = 0; b < count; ++b) {
        for (const Joint joint : {Joint::and_then, Joint::after}) {
          add({joint, a, b}, phrases[a].length + phrases[b].length);
        }
      }
    }
  }
};

const Grammar& grammar() {
  static const Grammar grammar;
  return grammar;
}

// The solver: recursive descent over the words of a prompt.

void append_copies(Actions& actions, size_t begin, int copies) {
  const size_t end = actions.size();
  for (int copy = 0; copy < copies; ++copy) {
    for (size_t i = begin; i < end; ++i) actions.push_back(actions[i]);
  }
}

Action parse_direction(PromptReader& reader) {
  if (reader.accept("left")) return Action::turn_left;
  if (reader.accept("right")) return Action::turn_right;
  reader.fail_expected("'left' or 'right'");
}

Actions parse_verb(PromptReader& reader) {
  static constexpr std::array<std::string_view, 4> kVerbs{"walk", "look", "run", "jump"};
  std::optional<Action> act;
  for (size_t i = 0; i < kVerbs.size() && !act; ++i) {
    if (reader.accept(kVerbs[i])) act = static_cast<Action>(i);
  }
  if (!act && !reader.accept("turn")) reader.fail_expected("'walk', 'look', 'run', 'jump' or 'turn'");

  int turns = 1;
  int rounds = 1;
  if (reader.accept("opposite")) {
    turns = 2;
  } else if (reader.accept("around")) {
    rounds = 4;
  } else if (act && reader.peek() != "left" && reader.peek() != "right") {
    return {*act};
  }
  Actions actions(static_cast<size_t>(turns), parse_direction(reader));
  if (act) actions.push_back(*act);
  append_copies(actions, 0, rounds - 1);
  return actions;
}

Actions parse_phrase(PromptReader& reader) {
  Actions actions = parse_verb(reader);
  if (reader.accept("twice")) {
    append_copies(actions, 0, 1);
  } else if (reader.accept("thrice")) {
    append_copies(actions, 0, 2);
  }
  return actions;
}

Actions parse_command(PromptReader& reader) {
  Actions actions = parse_phrase(reader);
  if (reader.accept("and")) {
    const Actions next = parse_phrase(reader);
    actions.insert(actions.end(), next.begin(), next.end());
  } else if (reader.accept("after")) {
    const Actions before = parse_phrase(reader);
    actions.insert(actions.begin(), before.begin(), before.end());
  }
  return actions;
}

class Scan : public Task {
 public:
  const TaskInfo& info() const override {
    static const TaskInfo info{.name = "scan",
                               .summary = "carry out a command: `jump twice` asks for two jumps",
                               .group = "classic",
                               .paper = "scan/mdlen_tr25_ts48",
                               .unit = "actions",
                               .train = {1, 25},
                               .test = {26, 48},
                               .train_count = 15'997,
                               .validation_count = 1'777,
                               .test_count = 3'136};
    return info;
  }

  /// One bin per length that occurs with every command of it, whatever the count: whoever asked cuts the pool down.
  std::vector<Bin> plan(LengthRange lengths, int64_t, Split) const override {
    std::vector<Bin> bins;
    const auto& by_length = grammar().by_length;
    for (size_t length = 0; length < by_length.size(); ++length) {
      const Bin bin{.length = static_cast<int64_t>(length), .count = static_cast<int64_t>(by_length[length].size())};
      if (bin.count > 0 && lengths.contains(bin.length)) bins.push_back(bin);
    }
    return bins;
  }

  void generate(const Draw& draw, const Style& style, Example& out) const override {
    checked_scratchpad(info(), style.scratchpad, draw.bin.length);
    const Grammar& all = grammar();
    const auto length = static_cast<size_t>(draw.bin.length);
    const auto index = static_cast<size_t>(draw.index);
    LENGTHWISE_CHECK(length < all.by_length.size() && index < all.by_length[length].size(),
                     "SCAN has no command {} of {} actions", draw.index, draw.bin.length);
    const Command& command = all.by_length[length][index];
    const Phrase& first = all.phrases[command.first];
    const Phrase& second = all.phrases[command.second];
    const bool released = style.wording == Wording::released;

    out.length = draw.bin.length;
    out.category.clear();
    append_number(out.category, draw.bin.length);
    out.prompt = released ? "Solve: " : "";
    out.prompt += first.words;
    if (command.joint != Joint::none) {
      out.prompt += command.joint == Joint::after ? " after " : " and ";
      out.prompt += second.words;
    }
    if (released) out.prompt += "[SEP]";

    const auto in_words = [&](const Phrase& phrase) -> const std::string& {
      return released ? phrase.released : phrase.printed;
    };
    out.target = in_words(command.joint == Joint::after ? second : first);
    if (command.joint != Joint::none) {
      out.target += ' ';
      out.target += in_words(command.joint == Joint::after ? first : second);
    }
  }

  std::string solve(std::string_view prompt, const Scratchpad& scratchpad) const override {
    PromptReader reader(prompt);
    const bool released = reader.accept("Solve");
    if (released) reader.expect(":");
    const Actions actions = parse_command(reader);
    if (released) reader.expect("[SEP]");
    reader.expect_end();
    checked_scratchpad(info(), scratchpad, static_cast<int64_t>(actions.size()));
    return actions_text(actions, released ? Wording::released : Wording::printed);
  }

  std::vector<std::string> lexicon() const override {
    return {"Solve: walk look run jump turn left right opposite around twice thrice and after walk[SEP]",
            "WALK LOOK RUN JUMP TURN_LEFT TURN_RIGHT", "Walk Look Run Jump Left Right"};
  }
};

}  // namespace

TaskList make_scan() {
  return single_task<Scan>();
}

}  // namespace lengthwise
