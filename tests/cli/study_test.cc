/// Studies as processes: killed at any moment, side by side on one folder, stopped, wrong.
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <thread>

#include "core/files.h"
#include "core/rng.h"
#include "tests/cli/program.h"
#include "tests/core/temporary_folder.h"
#include "tests/study/small_study.h"

namespace lengthwise {
namespace {

namespace fs = std::filesystem;

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

std::vector<std::string> study_command(const fs::path& file, const fs::path& out, const std::string& jobs = "1") {
  return {"study", file.string(), "--out", out.string(), "--jobs", jobs, "--threads", jobs};
}

/// Four runs that together take some seconds.
void write_study(const fs::path& path, const std::string& lists = "encoding = ['nope', 't5']\nseed = [1, 2]\n") {
  write_file(path, "name = 'small'\n" + lists + kSmallRun);
}

void expect_no_leftovers(const fs::path& study) {
  for (const auto& entry : fs::recursive_directory_iterator(study))
    EXPECT_NE(entry.path().extension(), ".part") << entry.path();
}

/// What a study prints at its end, without the paths of this folder.
std::string ranking_of(const std::string& out) {
  const size_t end = out.find("\nall results: ");
  EXPECT_NE(end, std::string::npos) << out;
  return out.substr(0, end);
}

/// Kills studies at random moments, going on after each, until that many kills have hit a living one; every study that
/// comes to its end must have ended in the tables and files of one that nobody disturbed.
void kill_and_go_on(int kills) {
  const TemporaryFolder folder;
  write_study(folder / "study.toml");
  const auto start = Clock::now();
  const Outcome undisturbed = run_program(study_command(folder / "study.toml", folder / "undisturbed"));
  const double whole = seconds_since(start);
  ASSERT_EQ(undisturbed.status, 0) << undisturbed.err;
  const auto expected = results_of(folder / "undisturbed");
  ASSERT_EQ(expected.size(), 24u);

  const auto seed = static_cast<uint64_t>(Clock::now().time_since_epoch().count());
  SCOPED_TRACE(fmt::format("moments drawn with seed {}", seed));
  Rng rng(seed);
  int hit = 0;
  for (int study = 0; hit < kills; ++study) {
    const fs::path out = folder / fmt::format("disturbed-{}", study);
    Outcome last;
    for (bool ended = false; !ended;) {
      RunningProgram program(study_command(folder / "study.toml", out, study % 2 == 0 ? "1" : "2"));
      ended = hit >= kills || program.ends_within(rng.uniform() * whole);
      if (!ended) {
        program.send(SIGKILL);
        ++hit;
      }
      last = program.wait();
    }
    ASSERT_EQ(last.status, 0) << last.err;
    EXPECT_EQ(ranking_of(last.out), ranking_of(undisturbed.out));
    EXPECT_EQ(read_file(out / "results.csv"), read_file(folder / "undisturbed/results.csv"));
    EXPECT_TRUE(results_of(out) == expected);
    expect_no_leftovers(out);
  }
}

TEST(StudyProgram, KilledAtAFewMomentsEndsInTheSameTables) {
  kill_and_go_on(4);
}

TEST(StudyProgram, KilledAtThirtyMomentsEndsInTheSameTablesLong) {
  kill_and_go_on(30);
}

TEST(StudyProgram, TwoProcessesShareTheRuns) {
  const TemporaryFolder folder;
  write_study(folder / "study.toml");
  const Outcome alone = run_program(study_command(folder / "study.toml", folder / "alone"));
  RunningProgram first(study_command(folder / "study.toml", folder / "shared"));
  RunningProgram second(study_command(folder / "study.toml", folder / "shared"));
  const Outcome one = first.wait();
  const Outcome two = second.wait();
  EXPECT_EQ(one.status, 0) << one.err;
  EXPECT_EQ(two.status, 0) << two.err;
  EXPECT_EQ(ranking_of(one.out), ranking_of(alone.out));
  EXPECT_EQ(ranking_of(two.out), ranking_of(alone.out));
  EXPECT_TRUE(results_of(folder / "shared") == results_of(folder / "alone"));
  for (const char* run : {"nope-1", "nope-2", "t5-1", "t5-2"}) {
    const std::string finished = std::string(run) + ": finished in ";
    const int times =
        (one.err.find(finished) != std::string::npos ? 1 : 0) + (two.err.find(finished) != std::string::npos ? 1 : 0);
    EXPECT_EQ(times, 1) << run << "\n" << one.err << two.err;
  }
}

TEST(StudyProgram, ARunWhoseProcessWasKilledIsTakenOver) {
  const TemporaryFolder folder;
  const fs::path out = folder / "study";
  write_file(folder / "study.toml", "name = 'small'\nencoding = ['nope']\n" + kSmallRun + "\n");
  std::string text = read_file(folder / "study.toml");
  text.replace(text.find("steps = 24"), 10, "steps = 4000");
  write_file(folder / "study.toml", text);
  RunningProgram first(study_command(folder / "study.toml", out));
  while (!fs::exists(out / "runs/nope/state.safetensors") && !first.ends_within(0.01)) continue;
  RunningProgram second(study_command(folder / "study.toml", out));
  EXPECT_FALSE(second.ends_within(0.5)) << "it waits for the run of the first";
  first.send(SIGKILL);
  first.wait();
  const Outcome outcome = second.wait();
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_NE(outcome.err.find("nope: resumed"), std::string::npos) << outcome.err;
  EXPECT_TRUE(fs::exists(out / "runs/nope/summary.json"));
}

void stop_by(int signal, int status) {
  const TemporaryFolder folder;
  const fs::path out = folder / "study";
  write_study(folder / "study.toml");
  std::string text = read_file(folder / "study.toml");
  text.replace(text.find("steps = 24"), 10, "steps = 90000");
  write_file(folder / "study.toml", text);
  RunningProgram program(study_command(folder / "study.toml", out, "2"));
  while (!fs::exists(out / "runs/nope-1/state.safetensors") && !program.ends_within(0.01)) continue;
  program.send(signal);
  const Outcome outcome = program.wait();
  EXPECT_EQ(outcome.status, status);
  EXPECT_EQ(outcome.out, "");
  EXPECT_NE(outcome.err.find("stopped with 0 of 4 runs finished; the same command goes on from here\n"),
            std::string::npos)
      << outcome.err;
  for (const auto& run : study_json_of(out)["runs"]) EXPECT_EQ(run["state"], "waiting");
}

TEST(StudyProgram, StopsOnCtrlCAndSaysHowToGoOn) {
  stop_by(SIGINT, 130);
}

TEST(StudyProgram, StopsOnSigtermAndSaysHowToGoOn) {
  stop_by(SIGTERM, 143);
}

TEST(StudyProgram, NamesDamagedRunsAndRefusesNewerOnes) {
  const TemporaryFolder folder;
  write_study(folder / "study.toml", "encoding = ['nope', 't5']\n");
  const auto command = study_command(folder / "study.toml", folder / "study");
  ASSERT_EQ(run_program(command).status, 0);
  const fs::path nope = folder / "study/runs/nope";
  fs::remove(nope / "metrics.jsonl");
  fs::create_symlink("metrics.jsonl", nope / "metrics.jsonl");
  Outcome outcome = run_program(command);
  EXPECT_EQ(outcome.status, 1);
  EXPECT_TRUE(contains(outcome.err, "lengthwise: cannot read the run nope: cannot look at ")) << outcome.err;
  EXPECT_TRUE(contains(outcome.out, "\nt5 ")) << "the other one has its results: " << outcome.out;
  // One that the study itself finds damaged is in its table, and is not named again.
  write_file(nope / "summary.json", "{}");
  outcome = run_program(command);
  EXPECT_EQ(outcome.status, 1);
  EXPECT_TRUE(contains(outcome.out, "\nnope        damaged: ")) << outcome.out;
  EXPECT_FALSE(contains(outcome.err, "cannot read the run")) << outcome.err;

  change_option(folder / "study/runs/t5", "learning-to-fly", 1);
  EXPECT_TRUE(contains(mistake(command), "runs/t5/config.json has the option 'learning-to-fly', which lengthwise "));
  EXPECT_FALSE(fs::exists(folder / "study/replaced"));
}

TEST(StudyProgram, FailedRunsAreReportedAtTheEnd) {
  const TemporaryFolder folder;
  write_study(folder / "study.toml",
              "encoding = ['nope', {encoding = 't5', label = 'wild', lr = 1e30, clip = 0, warmup = 0}, 'rope']\n");
  const Outcome outcome = run_program(study_command(folder / "study.toml", folder / "study", "2"));
  EXPECT_EQ(outcome.status, 1);
  EXPECT_NE(outcome.err.find("wild: failed: the loss is no longer finite at step"), std::string::npos) << outcome.err;
  EXPECT_NE(outcome.out.find("failed run  reason\n"), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("\nwild        the loss is no longer"), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("1 of 3 runs failed; the same command tries them again\n"), std::string::npos);
  EXPECT_NE(outcome.out.find("\nrope "), std::string::npos) << outcome.out;
  EXPECT_TRUE(fs::exists(folder / "study/report.html"));
}

TEST(StudyProgram, DryRunListsAndTouchesNothing) {
  const TemporaryFolder folder;
  write_study(folder / "study.toml");
  std::vector<std::string> command = study_command(folder / "study.toml", folder / "study", "2");
  command.emplace_back("--dry-run");
  const Outcome outcome = run_program(command);
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_FALSE(fs::exists(folder / "study"));
  const std::vector<std::string> lines = lines_of(outcome.out);
  ASSERT_EQ(lines.size(), 8u) << outcome.out;
  EXPECT_EQ(lines[2].substr(0, 6), "nope-1");
  EXPECT_EQ(lines[5].substr(0, 4), "t5-2");
  EXPECT_EQ(lines[7].find("4 runs, 4 to do: about "), 0u) << lines[7];
  EXPECT_NE(lines[7].find(" with 2 jobs of 1 thread ("), std::string::npos) << lines[7];
  // What is finished is not counted.
  ASSERT_EQ(run_program(study_command(folder / "study.toml", folder / "study")).status, 0);
  EXPECT_NE(run_program(command).out.find("4 runs, 0 to do: about 0s"), std::string::npos);
}

TEST(StudyProgram, QuietSaysNothingButTheResult) {
  const TemporaryFolder folder;
  write_study(folder / "study.toml", "encoding = ['nope']\n");
  std::vector<std::string> command = study_command(folder / "study.toml", folder / "study");
  command.emplace_back("--quiet");
  const Outcome outcome = run_program(command);
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(outcome.err, "");
  EXPECT_EQ(outcome.out.find("No run fitted"), 0u) << outcome.out;
  EXPECT_NE(ranking_of(outcome.out).find("\nnope "), std::string::npos) << outcome.out;
  EXPECT_TRUE(fs::exists(folder / "study/report.html"));
}

TEST(StudyProgram, MistakesAreOneLine) {
  const TemporaryFolder folder;
  write_study(folder / "good.toml", "seed = [1]\n");
  write_file(folder / "bad.toml", "task = 'sort'\nencodng = ['t5']\n");
  const std::string good = (folder / "good.toml").string();
  const std::string bad = (folder / "bad.toml").string();
  EXPECT_EQ(mistake({"study", bad, "--out", "x"}),
            "lengthwise: " + bad + ":2: there is no option 'encodng'; did you mean 'encoding'?\n");
  EXPECT_EQ(mistake({"study", good}), "lengthwise: --out DIR is needed: the folder of the study\n");
  EXPECT_EQ(mistake({"study", good, "--out", "x", "--jobs", "1025"}),
            "lengthwise: --jobs must be between 0 and 1024, not 1025\n");
  EXPECT_EQ(mistake({"study", good, "--out", "x", "--threads", "99999"}),
            "lengthwise: --threads must be between 0 and 1024, not 99999\n");
  EXPECT_EQ(mistake({"study", good, "--out", folder.path().string()}),
            "lengthwise: " + folder.path().string() + " is not empty and holds no study; choose another --out\n");
  EXPECT_NE(mistake({"study", (folder / "none.toml").string(), "--out", "x"}).find("cannot read"), std::string::npos);
  make_folder(folder / "study");
  write_file(folder / "study/study.toml", "seed = [1]\n");
  EXPECT_EQ(mistake({"study", (folder / "study").string(), "--out", "x"}),
            "lengthwise: " + (folder / "study").string() +
                " is a folder; a study is a TOML file: " + (folder / "study/study.toml").string() + "\n");
  EXPECT_EQ(mistake({"study", good, "--out", "x", "--only", "2"}), "lengthwise: no run is called '2'\n");
  EXPECT_EQ(mistake({"study", good, "--out", "x", "--keep", "result"}),
            "lengthwise: --keep: 'result' is neither all nor results; did you mean 'results'?\n");
}

TEST(StudyProgram, RefusesWhatClearlyDoesNotFitOnTheDisk) {
  const TemporaryFolder folder;
  std::string seeds = "1";
  for (int seed = 2; seed <= 20000; ++seed) seeds += ", " + std::to_string(seed);
  write_file(folder / "huge.toml", "task = 'sort'\nmodel = 'base'\nseed = [" + seeds + "]\n");
  const Outcome outcome = run_program(study_command(folder / "huge.toml", folder / "study"));
  EXPECT_EQ(outcome.status, 2);
  EXPECT_NE(outcome.err.find("lengthwise: the study needs 34"), std::string::npos) << outcome.err;
  EXPECT_FALSE(fs::exists(folder / "study"));
}

}  // namespace
}  // namespace lengthwise
