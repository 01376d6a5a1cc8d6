/// What may stand in a study file, and what is said of the rest.
#include "study/study_file.h"

#include <gtest/gtest.h>

#include "core/error.h"
#include "model/decoder.h"
#include "study/plan.h"
#include "tests/core/temporary_folder.h"
#include "train/checkpoint.h"

namespace lengthwise {
namespace {

std::vector<std::string> names_of(const std::string& text) {
  std::vector<std::string> names;
  for (const StudyRun& run : plan_study(parse_study(text, "folder/file.toml")).runs) names.push_back(run.name);
  return names;
}

std::string complaint_about(const std::string& text) {
  try {
    plan_study(parse_study(text, "file.toml"));
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

using Names = std::vector<std::string>;

TEST(StudyFile, EveryListIsAnAxisInTheOrderOfTheFile) {
  EXPECT_EQ(names_of("task = ['sort', 'copy']\nencoding = ['nope', 't5']\nseed = [1]"),
            (Names{"sort-nope-1", "sort-t5-1", "copy-nope-1", "copy-t5-1"}));
  EXPECT_EQ(names_of("seed = [2, 1]\ntask = ['sort']\n"), (Names{"2-sort", "1-sort"}));
}

TEST(StudyFile, WithoutListsIsOneRun) {
  const StudyPlan plan = plan_study(parse_study("task = 'sort'\nsteps = 7", "folder/file.toml"));
  ASSERT_EQ(plan.runs.size(), 1u);
  EXPECT_EQ(plan.runs[0].name, "run");
  EXPECT_EQ(plan.runs[0].config.steps, 7);
  EXPECT_EQ(plan.name, "file");
  EXPECT_EQ(plan.title, "");
}

TEST(StudyFile, NameAndTitleAreItsOwn) {
  const StudyFile file = parse_study("name = 'mine'\ntitle = 'A study'\ntask = 'sort'", "file.toml");
  EXPECT_EQ(file.name, "mine");
  EXPECT_EQ(file.title, "A study");
}

TEST(StudyFile, OptionsThatVaryTogetherAreTables) {
  const StudyPlan plan = plan_study(parse_study(R"(
task = [
  {task = "sort", train-lengths = "1:4", steps = 100},
  "copy",
]
steps = 50
encoding = ["nope", {encoding = "rope", rotary-fraction = 1.0, label = "rope-full"}]
)",
                                                "file.toml"));
  ASSERT_EQ(plan.runs.size(), 4u);
  EXPECT_EQ(plan.runs[1].name, "sort-rope-full");
  EXPECT_EQ(plan.runs[1].config.steps, 100);
  EXPECT_EQ(plan.runs[1].config.data.train_lengths, (LengthRange{1, 4}));
  EXPECT_EQ(plan.runs[1].config.model.encoding, "rope(fraction=1)");
  EXPECT_EQ(plan.runs[2].name, "copy-nope");
  EXPECT_EQ(plan.runs[2].config.steps, 50) << "a table overrides what stands outside, and only for itself";
  EXPECT_EQ(plan.runs[2].config.model.encoding, "nope");
  EXPECT_EQ(plan.varying, (Names{"task", "train-lengths", "steps", "encoding", "rotary-fraction"}));
}

TEST(StudyFile, EncodingsWithOptionsHaveReadableNames) {
  EXPECT_EQ(names_of("task = 'copy'\nlayers = 4\nencoding = ['rope(fraction=0.5)', 'layers(rope(fraction=1), nope)', "
                     "'alibi+window(size=8)']"),
            (Names{"rope-fraction-0.5", "layers-rope-fraction-1-nope", "alibi+window-size-8"}));
}

TEST(StudyFile, TablesMayStandFurtherDown) {
  EXPECT_EQ(names_of(R"(
seed = [1]
[[task]]
task = "sort"
steps = 5
[[task]]
task = "copy"
)"),
            (Names{"1-sort", "1-copy"}));
}

TEST(StudyFile, AListInsideATableMultipliesThatEntry) {
  EXPECT_EQ(names_of(R"(
task = [{task = "parity", scratchpad = ["none", "full"]}, "copy"]
seed = [1]
)"),
            (Names{"parity-none-1", "parity-full-1", "copy-1"}));
}

TEST(StudyFile, CasesBelongToNoOption) {
  EXPECT_EQ(names_of(R"(
[[case]]
task = ["parity", "lego"]
scratchpad = ["full"]
[[case]]
task = "sort"
lr = 0.5
[[case]]
label = "fast sort"
task = "sort"
lr = 1.5
)"),
            (Names{"parity-full", "lego-full", "sort", "fast_sort"}));
}

TEST(StudyFile, ATableThatIsNoListOnlyGroups) {
  const StudyPlan plan = plan_study(parse_study("[data]\ntask = ['sort']\n[training]\nlr = 0.25", "file.toml"));
  EXPECT_EQ(plan.runs[0].name, "sort");
  EXPECT_EQ(plan.runs[0].config.lr, 0.25);
}

TEST(StudyFile, NamesAreSafeAndDoNotDependOnSpelling) {
  EXPECT_EQ(names_of("task = 'sort'\nlr = [1e-3, 0.002]\ntrain-lengths = ['1:3']\ndedup = [true, false]"),
            (Names{"0.001-1_3-dedup", "0.001-1_3-no-dedup", "0.002-1_3-dedup", "0.002-1_3-no-dedup"}));
  EXPECT_EQ(names_of("task = [{task = 'sort', label = '../up'}]"), (Names{"_.._up"}));
  EXPECT_EQ(names_of("task = ['sort']\nstart-from = ['']"), (Names{"sort-no-start-from"}));
}

TEST(StudyFile, WeightsToStartFromAreAnAxis) {
  const TemporaryFolder folder;
  ModelConfig model;
  model.layers = 1;
  model.width = 8;
  write_weights(folder / "made.safetensors", Decoder(resolve(model, 10), 1).parameters(), 0);
  const std::string made = (folder / "made.safetensors").string();
  const StudyPlan plan = plan_study(parse_study(
      fmt::format("task = 'sort'\nseed = [1]\n[[start-from]]\nstart-from = ''\nlabel = 'random'\n[[start-from]]\n"
                  "start-from = '{}'\nlabel = 'made'\nstart-noise = [0, 0.1]\n",
                  made),
      "file.toml"));
  ASSERT_EQ(plan.runs.size(), 3u);
  EXPECT_EQ(plan.runs[0].name, "1-random");
  EXPECT_EQ(plan.runs[0].config.start_from, "");
  EXPECT_EQ(plan.runs[0].config.start_checksum, "");
  EXPECT_EQ(plan.runs[1].name, "1-made-0");
  EXPECT_EQ(plan.runs[1].config.start_from, made);
  EXPECT_NE(plan.runs[1].config.start_checksum, "");
  EXPECT_EQ(plan.runs[2].name, "1-made-0.1");
  EXPECT_EQ(plan.runs[2].config.start_noise, 0.1);
  EXPECT_NE(run_identity(plan.runs[0].config), run_identity(plan.runs[1].config));
  EXPECT_NE(run_identity(plan.runs[1].config), run_identity(plan.runs[2].config));
  EXPECT_EQ(
      complaint_about("task = 'sort'\nseed = [1]\nstart-from = ['', 'nowhere']").find("file.toml: run 1-nowhere: "),
      0u);
  EXPECT_EQ(complaint_about("task = 'sort'\nstart-from = ['']\nstart-noise = 0.1"),
            "file.toml: run no-start-from: --start-noise goes with --start-from");
}

TEST(StudyFile, SaysWhereAMistakeIs) {
  EXPECT_EQ(complaint_about("task = 'sort'\nencodng = 't5'"),
            "file.toml:2: there is no option 'encodng'; did you mean 'encoding'?");
  EXPECT_EQ(complaint_about("task = [{task = 'sort', step = 3}]"),
            "file.toml:1: there is no option 'step'; did you mean 'steps'?");
  EXPECT_EQ(complaint_about("task = 'sort'\nsteps = [10,\n  'x']"), "file.toml:3: steps: 'x' is not a whole number");
  EXPECT_EQ(complaint_about("task = []"), "file.toml:1: 'task' is an empty list: there would be no run");
  EXPECT_EQ(complaint_about("task = [[1]]"), "file.toml:1: 'task' must be a string, a number or a truth value here");
  EXPECT_EQ(complaint_about("case = ['sort']"), "file.toml:1: an entry of 'case' must be a table of options");
  EXPECT_EQ(complaint_about("[[task]]\nlabel = 'x'"), "file.toml:1: an entry of 'task' sets no option");
  EXPECT_EQ(complaint_about("threads = 3"),
            "file.toml:1: threads are divided over the jobs; use --threads and --jobs instead");
  EXPECT_EQ(complaint_about("name = 3"), "file.toml:1: name must be a text");
  EXPECT_EQ(complaint_about("[a]\nlr = 1\n[b]\nlr = 2"),
            "file.toml:4: 'lr' is given twice; it stands in line 2 already");
  EXPECT_EQ(complaint_about("task = [{task = 'sort', steps = 3}]\nsteps = [1, 2]"),
            "file.toml:2: 'steps' is set by the list 'steps' and also, in line 1, by the list 'task'");
  EXPECT_NE(complaint_about("task = = 3").find("file.toml:1: "), std::string::npos);
}

TEST(StudyFile, TunesOptionsThatListsVary) {
  const StudyPlan plan = plan_study(parse_study("task = ['sort']\nlr = [0.1, 0.2]\ntune = ['lr']", "file.toml"));
  EXPECT_EQ(plan.tune, (Names{"lr"}));
  EXPECT_EQ(plan.runs.size(), 2u);
  EXPECT_EQ(complaint_about("task = 'sort'\nlr = [0.1, 0.2]\ntune = ['rl']"),
            "file.toml:3: 'rl' cannot be tuned: no list varies it; did you mean 'lr'?");
  EXPECT_EQ(complaint_about("tune = ['steps']\ntask = ['sort']\nsteps = 5"),
            "file.toml:1: 'steps' cannot be tuned: no list varies it");
  EXPECT_EQ(complaint_about("task = 'sort'\nseed = [1, 2]\ntune = ['seed']"),
            "file.toml:3: 'seed' cannot be tuned: runs are compared by it");
  for (const char* wrong : {"tune = 'lr'", "tune = []", "tune = [3]", "tune = {lr = 1}"})
    EXPECT_EQ(complaint_about(wrong), "file.toml:1: tune must be a list of options: tune = [\"lr\"]") << wrong;
}

TEST(StudyFile, ALengthInAListIsARange) {
  EXPECT_EQ(complaint_about("task = 'sort'\ntrain-lengths = [1, 8]"),
            "file.toml:2: an entry of the list 'train-lengths' is a range, not a number: write \"1:8\"");
  EXPECT_EQ(complaint_about("task = [{task = 'sort', test-lengths = [16]}]"),
            "file.toml:1: an entry of the list 'test-lengths' is a range, not a number: write \"16:16\"");
  EXPECT_EQ(names_of("task = 'sort'\ntrain-lengths = ['1:8', '1:4']\nsteps = [1, 8]").size(), 4u);
}

TEST(StudyFile, ListsInsideTablesAreLimitedToo) {
  std::string list = "[1";
  for (int i = 2; i <= 400; ++i) list += ", " + std::to_string(i);
  list += "]";
  EXPECT_EQ(complaint_about("[[case]]\ntask = 'sort'\nseed = " + list + "\nsteps = " + list),
            "file.toml:1: these lists are more than 100000 runs");
  std::string cases;
  for (int i = 0; i < 3; ++i)
    cases += "[[case]]\nlabel = 'c" + std::to_string(i) + "'\ntask = 'sort'\nseed = " + list +
             "\nbatch-size = " + list.substr(0, list.find(", 200")) + "]\n";
  EXPECT_EQ(complaint_about(cases), "file.toml:1: 'case' is more than 100000 runs");
}

TEST(StudyFile, EntriesMustBeTellableApart) {
  EXPECT_EQ(complaint_about("task = 'sort'\nseed = [1, 1]"),
            "file.toml:2: 'seed' has two entries called '1'; give one of them a name of its own: "
            "{seed = ..., label = \"...\"}");
  EXPECT_NE(complaint_about("encoding = ['rope', {encoding = 'rope', rotary-fraction = 1.0}]").find("two entries"),
            std::string::npos);
  EXPECT_EQ(complaint_about("task = [{task = 'sort', label = 'a-b'}, {task = 'copy', label = 'a'}]\n"
                            "encoding = [{encoding = 'nope', label = 'c'}, {encoding = 't5', label = 'b-c'}]"),
            "file.toml: two runs would be called 'a-b-c'; tell them apart with label = \"...\"");
}

TEST(StudyFile, ConfigurationsAreCheckedAsAWhole) {
  EXPECT_EQ(complaint_about("task = 'sort'\nwidth = 100\nheads = [4, 3]"),
            "file.toml: run 3: --width 100 is not a multiple of --heads 3; give --head-dim");
  EXPECT_NE(complaint_about("task = ['sort', 'srot']").find("run srot: there is no task 'srot'"), std::string::npos);
  EXPECT_NE(complaint_about("seed = [1]").find("no data: name a task"), std::string::npos);
}

TEST(StudyFile, ExplainsWhatARunIsAbout) {
  const StudyPlan plan = plan_study(
      parse_study("task = [{task = 'parity', scratchpad = ['full']}]\nseed = [1]\nencoding = ['nope']", "f.toml"));
  EXPECT_EQ(plan.split_of(plan.runs[0]), "parity-full");
  const StudyPlan other = plan_study(parse_study("task = 'parity'\nseed = [1]", "f.toml"));
  EXPECT_EQ(other.split_of(other.runs[0]), "parity");
}

}  // namespace
}  // namespace lengthwise
