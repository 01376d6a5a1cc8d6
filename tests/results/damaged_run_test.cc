// Runs whose files were cut, doubled, edited or exchanged: they are no results, and the others still are.
#include <gtest/gtest.h>

#include "core/error.h"
#include "core/text.h"
#include "results/load_results.h"
#include "results/metrics_file.h"
#include "tests/core/temporary_folder.h"
#include "tests/results/made_run.h"

namespace lengthwise {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = text.find('\n', begin);
    lines.push_back(text.substr(begin, end - begin + 1));
    begin = end + 1;
  }
  return lines;
}

/// The reason why a run is damaged after `harm` was done to one of its files; "" if it still counts.
std::string reason_after(const char* name, const std::function<std::string(std::string)>& harm, bool checksums) {
  const TemporaryFolder folder;
  make_run(folder / "a", {.checksums = checksums});
  make_run(folder / "b", {.seed = 2, .checksums = checksums});
  write_file(folder / "b" / name, harm(read_file(folder / "b" / name)));
  const Results results = load_results(folder.path(), {.curves = true, .examples = true});
  EXPECT_EQ(results.runs[0].state, StoredState::finished) << results.runs[0].reason;
  EXPECT_EQ(results.runs[1].state == StoredState::damaged, !results.runs[1].reason.empty());
  EXPECT_EQ(results.runs[1].lengths.empty(), results.runs[1].state == StoredState::damaged);
  return results.runs[1].reason;
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  EXPECT_NE(text.find(from), std::string::npos) << from;
  return text.replace(text.find(from), from.size(), to);
}

TEST(DamagedRun, IsNoticedByItsContradictions) {
  const auto eval = [](const std::function<std::string(std::string)>& harm) {
    return reason_after("eval.jsonl", harm, false);
  };
  EXPECT_EQ(eval([](std::string text) { return text; }), "");
  EXPECT_EQ(eval([](const std::string& text) { return text + "{\"selection\":\n"; }),
            "eval.jsonl:11: not valid JSON at byte 14");
  EXPECT_EQ(eval([](std::string text) {
              text.pop_back();
              return text;
            }),
            "eval.jsonl:10: the line has no end; the file was cut short");
  EXPECT_EQ(eval([](const std::string& text) { return text + text; }), "eval.jsonl:11: length 1 stands there twice");
  EXPECT_EQ(eval([](const std::string&) { return std::string(); }), "eval.jsonl is empty");
  EXPECT_EQ(eval([](const std::string& text) { return replaced(text, "\"correct\":5", "\"correct\":11"); }),
            "eval.jsonl:3: 'correct' must be a whole number from 0 to 10");
  EXPECT_EQ(eval([](const std::string& text) { return replaced(text, "\"correct\":5", "\"correct\":6"); }),
            "eval.jsonl:3: 6 of 10 is not an accuracy of 0.5");
  EXPECT_EQ(eval([](const std::string& text) {
              return replaced(replaced(text, "\"correct\":5", "\"correct\":6"), "\"accuracy\":0.5", "\"accuracy\":0.6");
            }),
            "eval.jsonl: lengths and categories of the best weights on the split test have other sums");
  EXPECT_EQ(eval([](const std::string& text) { return replaced(text, "\"best\"", "\"worst\""); }),
            "eval.jsonl:1: 'selection' must be best or last");
}

TEST(DamagedRun, MissesNoLine) {
  const TemporaryFolder folder;
  make_run(folder / "a", {});
  const std::vector<std::string> lines = lines_of(read_file(folder / "a" / "eval.jsonl"));
  for (size_t gone = 0; gone < lines.size(); ++gone) {
    const std::string reason = reason_after(
        "eval.jsonl",
        [&](const std::string&) {
          std::string text;
          for (size_t i = 0; i < lines.size(); ++i) text += i == gone ? "" : lines[i];
          return text;
        },
        false);
    EXPECT_NE(reason, "") << lines[gone];
  }
  for (size_t twice = 0; twice < lines.size(); ++twice) {
    EXPECT_NE(reason_after(
                  "eval.jsonl", [&](const std::string& text) { return text + lines[twice]; }, false),
              "");
  }
}

TEST(DamagedRun, EndsWithItsMetrics) {
  const auto metrics = [](const std::function<std::string(std::string)>& harm) {
    return reason_after("metrics.jsonl", harm, false);
  };
  EXPECT_EQ(metrics([](const std::string& text) { return text + text; }),
            "metrics.jsonl:5: step 1 stands after step 100");
  EXPECT_EQ(metrics([](const std::string& text) { return text.substr(0, text.rfind("{\"step\":100")); }),
            "metrics.jsonl ends at step 50 of 100; the file was cut short");
  EXPECT_EQ(metrics([](const std::string& text) { return text.substr(0, text.size() - 5); }),
            "metrics.jsonl:4: the line has no end; the file was cut short");
  const Metrics growing =
      growing_metrics("{\"step\":1,\"loss\":2.5}\n{\"step\":2,\"validation_exact_match\":0.5}\n{\"st");
  EXPECT_EQ(growing.last_step, 2) << "a run that is at work may be in the middle of a line";
  EXPECT_EQ(growing.best, 0.5);
}

TEST(DamagedRun, IsNoticedByChecksums) {
  const auto flip = [](std::string text) {
    text[text.size() / 2] = static_cast<char>(text[text.size() / 2] ^ 1);
    return text;
  };
  for (const char* name : {"config.json", "metrics.jsonl", "eval.jsonl", "examples.jsonl"}) {
    EXPECT_EQ(reason_after(name, flip, true),
              fmt::format("{} is damaged: its checksum is not the one in summary.json", name));
  }
  EXPECT_EQ(reason_after(
                "summary.json", [](const std::string& text) { return replaced(text, "1234", "1235"); }, true),
            "summary.json is damaged: its checksum is not that of what it says");
  EXPECT_EQ(reason_after(
                "summary.json", [](const std::string& text) { return text; }, true),
            "");
}

TEST(DamagedRun, WeightsAndOtherFilesMayBeMissing) {
  const TemporaryFolder folder;
  make_run(folder / "a", {.checksums = true});
  fs::remove(folder / "a" / "metrics.jsonl");
  fs::remove(folder / "a" / "examples.jsonl");
  const Results results = load_results(folder.path(), {.curves = true, .examples = true});
  EXPECT_EQ(results.runs[0].state, StoredState::finished) << results.runs[0].reason;
}

TEST(DamagedRun, DeepNestingIsNoReasonToFall) {
  const std::string deep(100'000, '[');
  for (const char* name : {"config.json", "eval.jsonl", "summary.json", "metrics.jsonl", "examples.jsonl"}) {
    EXPECT_NE(reason_after(
                  name, [&](const std::string&) { return deep + "\n"; }, false),
              "")
        << name;
    EXPECT_NE(reason_after(
                  name, [&](const std::string&) { return "{\"a\":" + deep; }, false),
              "")
        << name;
  }
}

TEST(DamagedRun, StrangeTypesAreDamageToo) {
  for (const char* summary :
       {"[]", "null", "7", "{}", "{\"format\":[]}", "{\"format\":\"lengthwise-summary\",\"checksum\":1}",
        "{\"format\":\"lengthwise-summary\",\"files\":{\"eval.jsonl\":3}}"}) {
    EXPECT_NE(reason_after(
                  "summary.json", [&](const std::string&) { return summary; }, false),
              "")
        << summary;
  }
  for (const char* config :
       {"{}", "{\"format\":3}", "{\"format\":\"lengthwise-run\",\"options\":{\"task\":\"\"}}",
        "{\"format\":\"lengthwise-run\",\"options\":{\"task\":\"sort\",\"encoding\":\"t5\",\"steps\":\"x\"}}"}) {
    const TemporaryFolder folder;
    make_run(folder / "a", {});
    make_run(folder / "b", {});
    write_file(folder / "b" / "config.json", config);
    const Results results = load_results(folder.path());
    EXPECT_EQ(results.count(StoredState::finished), 1u) << config;
  }
}

TEST(DamagedRun, NothingMeasuredIsNoAccuracy) {
  // An empty test set: null, and 0 as an earlier version wrote it.
  for (const char* value : {"null", "0.0"}) {
    const TemporaryFolder folder;
    make_run(folder / "a", {});
    std::string rows;
    for (const std::string& line : lines_of(read_file(folder / "a" / "eval.jsonl"))) {
      if (line.find("\"validation\"") != std::string::npos) rows += line;
    }
    write_file(folder / "a" / "eval.jsonl", rows);
    write_file(folder / "a" / "summary.json",
               fmt::format(R"({{"format":"lengthwise-summary","version":1,"out_of_distribution":{0},)"
                           R"("best":{{"step":50,"out_of_distribution":{0},"out_of_distribution_interval":)"
                           R"({{"count":0,"correct":0}}}}}})",
                           value));
    std::vector<std::string> notes;
    const std::vector<Score> scores = scores_of(load_results(folder.path()), notes);
    ASSERT_EQ(scores.size(), 1u);
    EXPECT_FALSE(scores[0].accuracy);
    EXPECT_TRUE(scores[0].trained.known());
  }
}

}  // namespace
}  // namespace lengthwise
