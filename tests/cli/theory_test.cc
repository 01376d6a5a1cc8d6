// `lengthwise theory`: what scripts read of it, and the run that it saves.
#include <gtest/gtest.h>

#include "core/json.h"
#include "tests/cli/program.h"
#include "tests/core/temporary_folder.h"

namespace lengthwise {
namespace {

TEST(TheoryCommand, PrintsOneObjectALine) {
  const Outcome outcome = run_program({"theory", "absolute", "relative", "no-mask", "--json", "--precision", "fp64"});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  size_t constructions = 0;
  for (const std::string& line : lines_of(outcome.out)) {
    const Json json = parse_json(line, "a line");
    for (const char* name : {"construction", "decoder", "length", "precision", "max_error", "as_predicted"})
      EXPECT_TRUE(json.contains(name)) << name << " is missing in " << line;
    EXPECT_EQ(json["length"].get<int64_t>(), 64);
    EXPECT_TRUE(json["as_predicted"].get<bool>()) << line;
    const bool control = json["construction"].get<std::string>() == "no-mask";
    if (control) {
      EXPECT_GT(json["max_error"].get<double>(), 60) << line;
    } else {
      ++constructions;
      EXPECT_LT(json["max_error"].get<double>(), 1e-10) << line;
    }
  }
  EXPECT_EQ(constructions, 6U) << "two constructions in three decoders";
}

TEST(TheoryCommand, SavesARunThatCanBeEvaluated) {
  const TemporaryFolder folder;
  const std::string run = (folder / "run").string();
  const Outcome saved = run_program({"theory", "previous-head", "--length", "40", "--task", "sort", "--save", run});
  EXPECT_EQ(saved.status, 0) << saved.err;
  EXPECT_NE(saved.out.find("--start-from"), std::string::npos) << saved.out;
  const Outcome evaluated = run_program({"eval", run, "--lengths", "2:3", "--count", "5", "--json"});
  EXPECT_EQ(evaluated.status, 0) << evaluated.err;
  EXPECT_EQ(lines_of(evaluated.out).size(), 2U) << evaluated.out;
}

TEST(TheoryCommand, SaysWhatIsWrongInOneLine) {
  for (const auto& [arguments, said] : std::vector<std::pair<std::vector<std::string>, std::string>>{
           {{"theory", "absolut"}, "did you mean 'absolute'?"},
           {{"theory", "--length", "2"}, "--length must be between 3 and"},
           {{"theory", "--precision", "fp16"}, "--precision must be fp64, fp32, bf16 or all, not 'fp16'"},
           {{"theory", "--save", "somewhere"}, "--save writes one construction"},
           {{"theory", "units", "--save", "somewhere"}, "has no weights to save"}}) {
    const Outcome outcome = run_program(arguments);
    EXPECT_EQ(outcome.status, 2);
    EXPECT_EQ(lines_of(outcome.err).size(), 1U) << outcome.err;
    EXPECT_NE(outcome.err.find(said), std::string::npos) << outcome.err;
  }
}

}  // namespace
}  // namespace lengthwise
