/// The studies that come with Lengthwise, held against the paper's protocol.
#include <gtest/gtest.h>

#include <functional>
#include <set>

#include "eval/more_measures.h"
#include "model/architectures.h"
#include "positional/registry.h"
#include "runtime/settings.h"
#include "study/plan.h"
#include "tasks/registry.h"
#include "tests/text/made_text.h"
#include "train/run_folder.h"

namespace lengthwise {
namespace {

/// Studies for a GPU ask for bfloat16, which a processor without it refuses.
bool plans_bfloat16() {
  return precision_here("auto", "cpu") == "bf16";
}

StudyPlan shipped(const std::string& name) {
  return plan_study(read_study_file(std::filesystem::path(LENGTHWISE_SOURCE_DIR) / "studies" / (name + ".toml")));
}

std::set<std::string> tasks_of(const StudyPlan& plan) {
  std::set<std::string> names;
  for (const StudyRun& run : plan.runs) names.insert(run.config.data.task);
  return names;
}

const std::set<std::string> kEncodings{"nope", "t5", "alibi", "rope", "sinusoidal"};

void expect_encodings(const StudyPlan& plan) {
  std::set<std::string> names;
  for (const StudyRun& run : plan.runs) names.insert(run.config.model.encoding);
  EXPECT_EQ(names, kEncodings);
}

/// Sections 1 and 5 of the protocol.
void expect_recipe(const TrainConfig& config) {
  const bool pcfg = config.data.task == "pcfg";
  EXPECT_EQ(config.data.wording, Wording::released);
  EXPECT_EQ(config.data.data_seed, 9842497);
  EXPECT_EQ(config.data.train_count, pcfg ? 72909 : config.data.task == "scan" ? 15997 : 100000);
  EXPECT_EQ(config.model.layers, 12);
  EXPECT_EQ(config.model.width, 768);
  EXPECT_EQ(config.model.heads, 12);
  EXPECT_EQ(config.model.head_dim, 64);
  EXPECT_EQ(config.model.ff_width, 3072);
  EXPECT_EQ(config.model.dropout, 0.1);
  EXPECT_EQ(config.model.score_scale, "none");
  EXPECT_EQ(config.model.vocab_rows, pcfg ? 32620 : 32100);
  EXPECT_EQ(config.steps, pcfg ? 100000 : 40000);
  EXPECT_EQ(config.batch_size, 64);
  EXPECT_EQ(config.lr, 3e-5);
  EXPECT_EQ(config.lr_end, 1e-7);
  EXPECT_EQ(config.warmup, 0.06);
  EXPECT_EQ(config.weight_decay, 0.05);
  EXPECT_EQ(config.beta1, 0.9);
  EXPECT_EQ(config.beta2, 0.999);
  EXPECT_EQ(config.epsilon, 1e-8);
  EXPECT_EQ(config.clip, 1.0);
  EXPECT_EQ(config.validate_every, 2000);
  EXPECT_EQ(config.validation_portion, 0.5);
  EXPECT_TRUE((std::set<int64_t>{256788, 234054, 146317}.contains(config.seed)));
}

TEST(ShippedStudies, PaperIsTheProtocol) {
  const StudyPlan plan = shipped("paper");
  EXPECT_EQ(plan.runs.size(), 17u * 5 * 3);
  std::set<std::string> all;
  for (const auto& task : tasks()) {
    if (!task->info().paper.empty()) all.insert(task->info().name);
  }
  EXPECT_EQ(tasks_of(plan), all);
  expect_encodings(plan);
  for (const StudyRun& run : plan.runs) {
    expect_recipe(run.config);
    EXPECT_EQ(run.config.precision, "fp32");
  }
  EXPECT_EQ(plan.runs[0].name, "copy-rsc-nope-256788");
  // Section 1.3: 109,607,040 trainable parameters, of which the T5 table has 384; 110,006,400 for PCFG.
  for (const StudyRun& run : plan.runs) {
    const int64_t table = run.config.model.encoding == "t5" ? 384 : 0;
    const int64_t whole = run.config.data.task == "pcfg" ? 110006400 : 109607040;
    EXPECT_EQ(count_parameters(run.config.model), whole - 384 + table) << run.name;
  }
}

TEST(ShippedStudies, TheTableIsThePaperInBfloat16) {
  if (!plans_bfloat16()) GTEST_SKIP() << "no bfloat16 here";
  const StudyPlan table = shipped("table");
  const StudyPlan paper = shipped("paper");
  ASSERT_EQ(table.runs.size(), paper.runs.size());
  for (size_t i = 0; i < paper.runs.size(); ++i) {
    TrainConfig same = table.runs[i].config;
    EXPECT_EQ(table.runs[i].name, paper.runs[i].name);
    EXPECT_EQ(same.precision, "bf16");
    same.precision = paper.runs[i].config.precision;
    same.checkpoint_every = paper.runs[i].config.checkpoint_every;
    same.watch_longer = paper.runs[i].config.watch_longer;
    EXPECT_EQ(run_config_json(same), run_config_json(paper.runs[i].config));
  }
}

TEST(ShippedStudies, PaperSmallHasTheSameSplits) {
  const StudyPlan plan = shipped("paper-small");
  const StudyPlan paper = shipped("paper");
  ASSERT_EQ(plan.runs.size(), paper.runs.size());
  for (size_t i = 0; i < plan.runs.size(); ++i) {
    EXPECT_EQ(plan.runs[i].name, paper.runs[i].name);
    EXPECT_EQ(plan.runs[i].config.data.train_lengths, paper.runs[i].config.data.train_lengths);
    EXPECT_EQ(plan.runs[i].config.data.test_lengths, paper.runs[i].config.data.test_lengths);
    EXPECT_EQ(plan.runs[i].config.data.wording, Wording::released);
  }
}

TEST(ShippedStudies, ScratchpadIsTheProtocol) {
  const StudyPlan plan = shipped("scratchpad");
  std::map<std::string, std::set<std::string>> formats;
  for (const StudyRun& run : plan.runs) {
    expect_recipe(run.config);
    formats[run.config.data.task].insert(to_text(run.config.data.scratchpad));
  }
  const std::set<std::string> without_variables{"none",           "full",      "minimal",     "no-input",
                                                "no-computation", "no-output", "no-remaining"};
  std::set<std::string> all = without_variables;
  all.insert("no-variables");
  for (const char* task : {"addition", "polynomial", "summation", "parity"}) EXPECT_EQ(formats[task], all) << task;
  for (const char* task : {"sort-multi", "lego"}) EXPECT_EQ(formats[task], without_variables) << task;
  EXPECT_EQ(plan.runs.size(), (4u * 8 + 2 * 7) * 5 * 3);
  expect_encodings(plan);
}

TEST(ShippedStudies, QuickstartComparesFiveEncodingsOnThreeTasks) {
  const StudyPlan plan = shipped("quickstart");
  expect_encodings(plan);
  EXPECT_EQ(tasks_of(plan).size(), 3u);
}

TEST(ShippedStudies, LearnabilityAsksEightEncodingsForPositionsAndDistances) {
  const StudyPlan plan = shipped("learnability");
  EXPECT_EQ(tasks_of(plan), (std::set<std::string>{"position-unary", "distance-unary"}));
  std::set<std::string> encodings;
  for (const StudyRun& run : plan.runs) {
    encodings.insert(run.config.model.encoding);
    EXPECT_EQ(run.config.start_from, "");
  }
  const std::vector<std::string> all = {"nope", "t5",         "alibi",   "alibi-learned",
                                        "rope", "sinusoidal", "learned", "transformer-xl"};
  EXPECT_EQ(encodings, std::set<std::string>(all.begin(), all.end()));
  EXPECT_EQ(plan.runs.size(), 2 * all.size() * 5);
  if (!plans_bfloat16()) GTEST_SKIP() << "no bfloat16 here, and the same at full size asks for it";
  const StudyPlan base = shipped("learnability-base");
  EXPECT_EQ(tasks_of(base), tasks_of(plan));
  EXPECT_EQ(base.runs.size(), 2 * (all.size() - 1) * 5);
  for (const StudyRun& run : base.runs) {
    EXPECT_EQ(run.config.model.width, 768);
    EXPECT_EQ(run.config.model.layers, 12);
    EXPECT_EQ(run.config.steps, 40000);
  }
}

TEST(ShippedStudies, EncodingsAsksEveryEncodingThatIsTrained) {
  const StudyPlan plan = shipped("encodings");
  EXPECT_EQ(tasks_of(plan), (std::set<std::string>{"sort", "copy", "reverse", "addition", "parity", "scan"}));
  std::set<std::string> texts, names;
  for (const StudyRun& run : plan.runs) {
    const std::string& encoding = run.config.model.encoding;
    texts.insert(encoding);
    names.insert(encoding.substr(0, encoding.find('(')));
  }
  EXPECT_EQ(plan.runs.size(), texts.size() * 6 * 3);
  EXPECT_GE(texts.size(), 40U);
  // Stretchings of a trained RoPE change evaluation alone, and not all of these tasks have digits. An encoding that
  // somebody adds need not be here.
  const std::vector<std::string> all = encoding_names();
  const std::set<std::string> known(all.begin(), all.end());
  for (const char* other : {"pi", "ntk", "yarn", "llama3", "dynamic-ntk", "rerope", "self-extend", "abacus"}) {
    EXPECT_FALSE(names.contains(other)) << other;
  }
  EXPECT_GE(std::ranges::count_if(known, [&](const std::string& name) { return names.contains(name); }), 36);
}

TEST(ShippedStudies, StretchedTrainsAsTheTableOfEncodingsDoes) {
  std::map<std::string, std::string> table;
  for (const StudyRun& run : shipped("encodings").runs) table[run.name] = run_config_json(run.config);
  const StudyPlan plan = shipped("stretched");
  EXPECT_EQ(plan.runs.size(), 6u * 2 * 3);
  for (const StudyRun& run : plan.runs) {
    // pi, ntk, yarn, llama3, dynamic-ntk, rerope and self-extend, none of which is trained.
    EXPECT_EQ(listed_encodings(run.config.measure_with).size(), 7u) << run.name;
    TrainConfig trained = run.config;
    trained.measure_with.clear();
    EXPECT_EQ(run_config_json(trained), table[run.name]) << run.name;
  }
}

TEST(ShippedStudies, LearnabilityByStartsHasTheFirstStudyAsItsRandomOne) {
  const auto identities = [](const StudyPlan& plan) {
    std::vector<std::string> texts;
    for (const StudyRun& run : plan.runs) {
      if (run.config.start_from.empty()) texts.push_back(run_identity(run.config));
    }
    return texts;
  };
  const StudyPlan starts = shipped("learnability-start");
  EXPECT_EQ(identities(starts), identities(shipped("learnability")));
  EXPECT_EQ(starts.runs[0].name, "position-unary-nope-random-1");
}

/// A study on text, with a little text of ours in the place of what it names.
StudyPlan shipped_on_text(const TemporaryFolder& folder, const std::string& name, const std::string& text) {
  std::string file = read_file(std::filesystem::path(LENGTHWISE_SOURCE_DIR) / "studies" / (name + ".toml"));
  const std::string named = "\ntext = \"" + text + "\"\n";
  const size_t at = file.find(named);
  EXPECT_NE(at, std::string::npos) << name;
  const std::filesystem::path made = make_text(folder, name, {letters(3000, 1)}, {letters(600, 2)}, {letters(600, 3)});
  file.replace(at, named.size(), "\ntext = \"" + made.string() + "\"\n");
  return plan_study(parse_study(file, name + ".toml"));
}

TEST(ShippedStudies, LanguageReadsBooksToSixteenTimesTheContext) {
  if (!plans_bfloat16()) GTEST_SKIP() << "no bfloat16 here";
  const TemporaryFolder folder;
  const StudyPlan plan = shipped_on_text(folder, "language", "runs/books");
  std::map<std::string, int64_t> seeds;
  for (const StudyRun& run : plan.runs) {
    ++seeds[run.config.model.encoding];
    EXPECT_EQ(run.config.model.width, 768);
    EXPECT_EQ(run.config.data.context, 512);
    EXPECT_EQ(run.config.data.contexts, "512,1024,2048,4096,8192");
    const int64_t tokens = run.config.steps * run.config.batch_size * run.config.data.context;
    EXPECT_NEAR(static_cast<double>(tokens), 300e6, 3e6);
    EXPECT_EQ(run.config.stride, 256);
    if (run.config.model.encoding == "rope") {
      EXPECT_EQ(run.config.measure_with, "yarn(factor=4),yarn(factor=16)");
    }
  }
  for (const std::string& encoding : kEncodings) EXPECT_EQ(seeds[encoding], 2) << encoding;
  for (const char* encoding : {"fire", "kerple-log", "fox", "layers(rope,rope,rope,nope)", "drope(rope)"})
    EXPECT_EQ(seeds[encoding], 1) << encoding;
  EXPECT_EQ(plan.runs[0].name, "nope-1");
  EXPECT_EQ(plan.runs.size(), 16u);
}

TEST(ShippedStudies, TheOthersOnTextCompareTheFive) {
  const TemporaryFolder folder;
  expect_encodings(shipped_on_text(folder, "language-wikitext", "runs/wikitext"));
  expect_encodings(shipped_on_text(folder, "language-small", "runs/text"));
}

/// Every run is one of language-small with the same seed, but for the encoding, the folder that is made for each here,
/// and what `make_alike` sets in both.
void expect_recipe_of_the_small_one(const TemporaryFolder& folder, const StudyPlan& plan,
                                    const std::function<void(TrainConfig&)>& make_alike) {
  const StudyPlan small = shipped_on_text(folder, "language-small", "runs/text");
  const auto recipe = [&make_alike](TrainConfig config) {
    config.model.encoding = "nope";
    config.data.text.clear();
    make_alike(config);
    return run_config_json(config);
  };
  for (const StudyRun& run : plan.runs)
    EXPECT_EQ(recipe(run.config), recipe(small.runs[run.config.seed == 1 ? 0 : 1].config)) << run.name;
}

TEST(ShippedStudies, WhatCameAfterTheFiveIsTrainedOnTextAsTheyAre) {
  const TemporaryFolder folder;
  const StudyPlan others = shipped_on_text(folder, "language-small-others", "runs/text");
  expect_recipe_of_the_small_one(folder, others, [](TrainConfig& config) { config.measure_with.clear(); });
  std::set<std::string> names;
  for (const StudyRun& run : others.runs) names.insert(run.config.model.encoding);
  EXPECT_EQ(names.size(), 6u);
  EXPECT_EQ(others.runs.size(), 12u);
}

TEST(ShippedStudies, TheCourseChangesNothingButTheSteps) {
  const TemporaryFolder folder;
  const StudyPlan course = shipped_on_text(folder, "language-course", "runs/course-text");
  expect_recipe_of_the_small_one(folder, course, [](TrainConfig& config) { config.steps = 600; });
  std::map<int64_t, int> runs_of;
  for (const StudyRun& run : course.runs) ++runs_of[run.config.steps];
  EXPECT_EQ(runs_of, (std::map<int64_t, int>{{600, 6}, {2000, 6}, {6000, 6}}));
}

TEST(ShippedStudies, MixturesAreTrainedAsTheCourseAndReadWithMasksOfTheirParts) {
  const TemporaryFolder folder;
  const StudyPlan mixtures = shipped_on_text(folder, "language-mixtures", "runs/course-text");
  expect_recipe_of_the_small_one(folder, mixtures, [](TrainConfig& config) {
    config.steps = 600;
    config.measure_with.clear();
  });
  std::map<std::string, std::string> readings;
  for (const StudyRun& run : mixtures.runs) {
    EXPECT_EQ(run.config.steps, 2000);
    readings[run.config.model.encoding] = run.config.measure_with;
  }
  EXPECT_EQ(mixtures.runs.size(), 6u);
  EXPECT_EQ(readings.size(), 3u);
  const std::string& masks = readings.at("layers(rope,rope,rope,nope)");
  for (const char* mask : {"nope)+window(size=128)", "rope+window(size=128),nope)", "rope,nope+window(size=128))"})
    EXPECT_NE(masks.find(mask), std::string::npos) << mask;
}

}  // namespace
}  // namespace lengthwise
