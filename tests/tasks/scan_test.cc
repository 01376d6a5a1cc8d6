#include <gtest/gtest.h>

#include <map>
#include <set>

#include "core/error.h"
#include "core/text.h"
#include "tasks/registry.h"

namespace lengthwise {
namespace {

const Task& scan() {
  return find_task("scan");
}

std::vector<Example> all_commands(Wording wording) {
  std::vector<Example> examples;
  for (const Bin& bin : scan().plan({1, 100}, 0, Split::train)) {
    for (int64_t index = 0; index < bin.count; ++index) {
      scan().generate({.bin = bin, .index = index}, {.wording = wording, .scratchpad = {}}, examples.emplace_back());
    }
  }
  return examples;
}

std::string solve(std::string_view prompt) {
  return scan().solve(prompt, {});
}

std::string error_of(std::string_view prompt) {
  try {
    return "solved: " + solve(prompt);
  } catch (const UserError& error) {
    return error.what();
  }
}

/// A third computation: rewrites the command as a text until only actions are left. Capital letters are finished.
std::string rewrite(const std::string& text) {
  const auto around = [&](std::string_view word) -> std::optional<std::pair<std::string, std::string>> {
    const size_t at = text.find(word);
    if (at == std::string::npos) return std::nullopt;
    return std::pair(text.substr(0, at), text.substr(at + word.size()));
  };
  if (const auto parts = around(" and ")) return rewrite(parts->first) + " " + rewrite(parts->second);
  if (const auto parts = around(" after ")) return rewrite(parts->second) + " " + rewrite(parts->first);
  if (const auto parts = around(" twice")) return rewrite(parts->first + " and " + parts->first);
  if (const auto parts = around(" thrice")) return rewrite(parts->first + " twice and " + parts->first);
  if (const auto parts = around(" around ")) {
    const std::string once = parts->first + " " + parts->second;
    return rewrite(once + " twice and " + once + " twice");
  }
  if (const auto parts = around(" opposite ")) {
    return rewrite("turn " + parts->second + " and " + parts->first + " " + parts->second);
  }
  if (const auto parts = around("turn ")) return "TURN_" + rewrite(parts->second);
  if (const auto parts = around(" ")) return "TURN_" + rewrite(parts->second) + " " + rewrite(parts->first);
  std::string upper = text;
  for (char& c : upper) c = static_cast<char>(c - 'a' + 'A');
  return upper;
}

/// The printed names of the actions turned into the released ones.
std::string renamed(const std::string& actions) {
  static const std::map<std::string_view, std::string> kNames{{"WALK", "Walk"},      {"LOOK", "Look"},
                                                              {"RUN", "Run"},        {"JUMP", "Jump"},
                                                              {"TURN_LEFT", "Left"}, {"TURN_RIGHT", "Right"}};
  std::vector<std::string> words;
  for (const std::string_view word : split_words(actions)) words.push_back(kNames.at(word));
  return join(words, " ");
}

TEST(Scan, HasEveryCommandOfTheGrammarOnce) {
  for (const Wording wording : {Wording::printed, Wording::released}) {
    std::set<std::string> prompts;
    for (const Example& example : all_commands(wording)) prompts.insert(example.prompt);
    EXPECT_EQ(prompts.size(), 20'910u);
    EXPECT_EQ(all_commands(wording).size(), 20'910u);
  }
}

TEST(Scan, HasTheCorpusCountsByLength) {
  const std::map<int64_t, int64_t> expected{{26, 512}, {27, 448}, {28, 448}, {30, 576}, {32, 448},
                                            {33, 256}, {36, 64},  {40, 256}, {48, 128}};
  std::map<int64_t, int64_t> counted;
  int64_t test_count = 0;
  for (const Bin& bin : scan().plan(scan().info().test, scan().info().test_count, Split::test)) {
    counted[bin.length] = bin.count;
    test_count += bin.count;
  }
  EXPECT_EQ(counted, expected);
  EXPECT_EQ(test_count, scan().info().test_count);

  int64_t pool = 0;
  for (const Bin& bin : scan().plan(scan().info().train, 1, Split::train)) pool += bin.count;
  EXPECT_EQ(pool, 17'774);
  EXPECT_EQ(pool, scan().info().train_count + *scan().info().validation_count);
}

TEST(Scan, PlansOnlyLengthsThatOccur) {
  EXPECT_TRUE(scan().plan({29, 29}, 100, Split::test).empty());
  EXPECT_TRUE(scan().plan({49, 1'000'000}, 100, Split::test).empty());
  const auto bins = scan().plan({28, 30}, 7, Split::test);
  ASSERT_EQ(bins.size(), 2u);
  EXPECT_EQ(bins[0].length, 28);
  EXPECT_EQ(bins[0].count, 448);
  EXPECT_EQ(bins[1].length, 30);
  EXPECT_EQ(bins[1].count, 576);
}

TEST(Scan, LengthCountsActions) {
  for (const Example& example : all_commands(Wording::released)) {
    ASSERT_EQ(static_cast<int64_t>(split_words(example.target).size()), example.length) << example.prompt;
    ASSERT_EQ(example.category, std::to_string(example.length));
  }
}

TEST(Scan, GeneratorSolverAndRewritingAgreeOnEveryCommand) {
  for (const Example& example : all_commands(Wording::printed)) {
    ASSERT_EQ(example.target, solve(example.prompt)) << example.prompt;
    ASSERT_EQ(example.target, rewrite(example.prompt)) << example.prompt;
  }
}

TEST(Scan, WordingsDifferOnlyInWords) {
  const auto printed = all_commands(Wording::printed);
  const auto released = all_commands(Wording::released);
  ASSERT_EQ(printed.size(), released.size());
  for (size_t i = 0; i < printed.size(); ++i) {
    ASSERT_EQ(released[i].prompt, "Solve: " + printed[i].prompt + "[SEP]");
    ASSERT_EQ(released[i].target, renamed(printed[i].target));
    ASSERT_EQ(released[i].target, solve(released[i].prompt));
  }
}

TEST(Scan, SolvesTheExamplesOfThePaper) {
  EXPECT_EQ(solve("jump twice and run left"), "JUMP JUMP TURN_LEFT RUN");
  EXPECT_EQ(solve("Solve: jump opposite left twice and look[SEP]"), "Left Left Jump Left Left Jump Look");
  EXPECT_EQ(solve("Solve: turn left thrice after walk around right [SEP] "),
            "Right Walk Right Walk Right Walk Right Walk Left Left Left");
  EXPECT_EQ(solve("turn opposite right"), "TURN_RIGHT TURN_RIGHT");
  EXPECT_EQ(solve("turn around left"), "TURN_LEFT TURN_LEFT TURN_LEFT TURN_LEFT");
}

TEST(Scan, SaysWhatCannotBeParsed) {
  EXPECT_EQ(error_of("jump sideways"), "cannot parse \"jump sideways\": expected the end at word 2, found 'sideways'");
  EXPECT_EQ(error_of("turn"), "cannot parse \"turn\": expected 'left' or 'right' at word 2, found the end");
  EXPECT_EQ(error_of("jump opposite twice"),
            "cannot parse \"jump opposite twice\": expected 'left' or 'right' at word 3, found 'twice'");
  for (const char* prompt :
       {"", " ", "and", "jump and", "after jump", "jump and run and walk", "jump twice twice", "jump left left",
        "Solve: jump", "Solve jump[SEP]", "jump[SEP]", "Solve: [SEP]", "Solve: jump[SEP][SEP]", "JUMP", "jump\xff"}) {
    EXPECT_TRUE(error_of(prompt).starts_with("cannot parse")) << prompt << ": " << error_of(prompt);
  }
}

TEST(Scan, RefusesManyWords) {
  std::string prompt;
  for (int i = 0; i < 200'000; ++i) prompt += "jump and ";
  EXPECT_TRUE(error_of(prompt).starts_with("cannot parse"));
  EXPECT_LT(error_of(prompt).size(), 200u);
}

TEST(Scan, HasNoScratchpad) {
  EXPECT_THROW(scan().solve("jump", {.output = true}), UserError);
  Example example;
  EXPECT_THROW(scan().generate({.bin = {.length = 1, .count = 1}}, {.scratchpad = {.input = true}}, example),
               UserError);
}

TEST(Scan, LexiconHasEveryPiece) {
  std::set<std::pair<std::string, bool>> known;
  const auto texts = scan().lexicon();
  for (const std::string& text : texts) {
    for (const Piece& piece : split_pieces(text)) known.emplace(piece.text, piece.glued);
  }
  for (const Wording wording : {Wording::printed, Wording::released}) {
    for (const Example& example : all_commands(wording)) {
      for (const std::string& text : {example.prompt, example.target}) {
        for (const Piece& piece : split_pieces(text)) {
          ASSERT_TRUE(known.contains({std::string(piece.text), piece.glued})) << piece.text << " in " << text;
        }
      }
    }
  }
}

}  // namespace
}  // namespace lengthwise
