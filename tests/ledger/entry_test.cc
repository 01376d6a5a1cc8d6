/// From run folders to the files of a ledger and back.
#include "ledger/entry.h"

#include <gtest/gtest.h>

#include "core/error.h"
#include "tests/core/temporary_folder.h"
#include "tests/ledger/made_origin.h"

namespace lengthwise {
namespace {

namespace fs = std::filesystem;

std::string complaint(const std::function<void()>& body) {
  try {
    body();
  } catch (const UserError& error) {
    return error.what();
  }
  return "none";
}

LedgerEntry one_entry(const fs::path& run) {
  const NewEntries found = entries_of(run);
  EXPECT_EQ(found.entries.size(), 1u);
  return found.entries.at(0);
}

TEST(LedgerEntry, HoldsWhatTheRunGave) {
  const TemporaryFolder folder;
  make_finished_run(folder / "sort-nope-1", {.options = {{"lr", 0.5}}});
  const LedgerEntry entry = one_entry(folder / "sort-nope-1");
  EXPECT_EQ(entry.run, "sort-nope-1");
  EXPECT_EQ(entry.commit, "abc1234");
  EXPECT_EQ(entry.machine, "NVIDIA H200");
  EXPECT_EQ(entry.seconds, 120);
  EXPECT_EQ(entry.machine_seconds, 120) << "alone on the machine";
  EXPECT_EQ(entry.option("lr"), "0.5");
  EXPECT_EQ(entry.option("task"), "sort");
  EXPECT_EQ(entry.best.step, 50);
  EXPECT_EQ(entry.best.trained.share(), 1.0);
  EXPECT_EQ(entry.best.longer.count(), 20);
  EXPECT_EQ(entry.best.longer.correct(), 7);
  ASSERT_EQ(entry.best.longer.lengths.size(), 2u);
  EXPECT_EQ(entry.best.longer.lengths[0].length, 3);
  EXPECT_EQ(entry.best.longer.lengths[0].correct, 5);
  EXPECT_EQ(entry.last.longer.correct(), 0);
}

TEST(LedgerEntry, ComesBackFromItsFile) {
  const TemporaryFolder folder;
  make_finished_run(folder / "run", {});
  const LedgerEntry entry = one_entry(folder / "run");
  const std::string text = entry_text(entry);
  EXPECT_LT(text.size(), 4000u) << "small";
  EXPECT_NE(text.find("\"out_of_distribution\":{\"accuracy\":0.35,\"count\":20,\"correct\":7,"
                      "\"by_length\":{\"3\":[5,10],\"4\":[2,10]}}"),
            std::string::npos)
      << text;
  EXPECT_EQ(entry_text(parse_entry(text, "file")), text);
}

TEST(LedgerEntry, TakesTimesFromTheStudy) {
  const TemporaryFolder folder;
  for (const char* name : {"a", "b"}) make_finished_run(folder / "study/runs" / name, {});
  make_run(folder / "study/runs/c", {.seed = 3, .finished = false});
  write_file(folder / "study/study.json",
             R"({"format": "lengthwise-study", "version": 1, "name": "s", "varies": ["seed"], "runs": [
  {"name": "a", "folder": "runs/a", "state": "finished", "seconds": 200.0, "machine_seconds": 70.5},
  {"name": "b", "folder": "runs/b", "state": "finished", "seconds": 200.0},
  {"name": "c", "folder": "runs/c", "state": "waiting"}]})");
  const NewEntries found = entries_of(folder / "study");
  EXPECT_EQ(found.unfinished, 1u);
  ASSERT_EQ(found.entries.size(), 2u);
  EXPECT_EQ(found.entries[0].run, "a");
  EXPECT_EQ(found.entries[0].seconds, 200);
  EXPECT_EQ(found.entries[0].machine_seconds, 70.5);
  EXPECT_EQ(found.entries[1].machine_seconds, 200) << "a study of an earlier version does not say it";
}

TEST(LedgerEntry, WantsToKnowWhoMadeTheRun) {
  const TemporaryFolder folder;
  make_run(folder / "run", {});
  EXPECT_NE(complaint([&] { entries_of(folder / "run"); }).find("does not say by which commit"), std::string::npos);
  const NewEntries said = entries_of(folder / "run", {.commit = "ea03f59", .machine = "NVIDIA H200"});
  ASSERT_EQ(said.entries.size(), 1u);
  EXPECT_EQ(said.entries[0].commit, "ea03f59");
  EXPECT_FALSE(said.entries[0].recorded);
  EXPECT_FALSE(parse_entry(entry_text(said.entries[0]), "file").recorded);
  make_origin(folder / "run");
  EXPECT_EQ(entries_of(folder / "run", {.commit = "x", .machine = "y"}).entries.at(0).commit, "abc1234")
      << "what the program wrote counts";
  make_origin(folder / "run", "unknown");
  EXPECT_NE(complaint([&] { entries_of(folder / "run"); }).find("does not know its commit"), std::string::npos);
}

TEST(LedgerEntry, RefusesADamagedRun) {
  const TemporaryFolder folder;
  make_finished_run(folder / "run", {});
  write_file(folder / "run/eval.jsonl", "{\"selection\": \"best\n");
  EXPECT_NE(complaint([&] { entries_of(folder / "run"); }).find((folder / "run").string()), std::string::npos);
}

TEST(Ledger, AddsOnceAndReadsBack) {
  const TemporaryFolder folder;
  make_finished_run(folder / "b", {.seed = 2});
  make_finished_run(folder / "a", {});
  for (const char* name : {"b", "a"}) {
    const LedgerEntry entry = one_entry(folder / name);
    check_entry(folder / "ledger", entry, false);
    EXPECT_TRUE(write_entry(folder / "ledger", entry));
    check_entry(folder / "ledger", entry, false);
    EXPECT_FALSE(write_entry(folder / "ledger", entry)) << "it is there already";
  }
  const std::vector<LedgerEntry> entries = read_ledger(folder / "ledger");
  ASSERT_EQ(entries.size(), 2u);
  EXPECT_EQ(entries[0].run, "a");
  EXPECT_EQ(entries[1].option("seed"), "2");
}

TEST(Ledger, DoesNotOverwriteUnasked) {
  const TemporaryFolder folder;
  make_finished_run(folder / "run", {});
  write_entry(folder / "ledger", one_entry(folder / "run"));
  make_finished_run(folder / "run", {.longer_correct = 9});
  const LedgerEntry again = one_entry(folder / "run");
  EXPECT_NE(complaint([&] { check_entry(folder / "ledger", again, false); }).find("--replace overwrites it"),
            std::string::npos);
  EXPECT_EQ(complaint([&] { check_entry(folder / "ledger", again, true); }), "none");
  make_finished_run(folder / "run", {.encoding = "t5"});
  EXPECT_NE(complaint([&] {
              check_entry(folder / "ledger", one_entry(folder / "run"), false);
            }).find("holds another run of that name: --encoding is 'nope' there and 't5' here"),
            std::string::npos);
}

TEST(Ledger, NoticesFilesThatWereEdited) {
  const TemporaryFolder folder;
  make_finished_run(folder / "run", {});
  write_entry(folder / "ledger", one_entry(folder / "run"));
  const std::string text = read_file(folder / "ledger/run.json");
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string edited = text;
    edited.replace(edited.find(from), from.size(), to);
    write_file(folder / "ledger/run.json", edited);
    return complaint([&] { read_ledger(folder / "ledger"); });
  };
  EXPECT_NE(with("\"3\":[5,10]", "\"3\":[9,10]").find("is damaged: its checksum"), std::string::npos);
  EXPECT_NE(with("\"commit\": \"abc", "\"commit\": \"abd").find("is damaged: its checksum"), std::string::npos);
  EXPECT_NE(with("lengthwise-ledger", "something").find("is not a file of a ledger"), std::string::npos);
  EXPECT_NE(with("\"version\": 1", "\"version\": 2").find("newer program"), std::string::npos);
  EXPECT_NE(with("\"best\": {", "\"best\": [").find("not valid JSON"), std::string::npos);
  fs::rename(folder / "ledger/run.json", folder / "ledger/other.json");
  write_file(folder / "ledger/other.json", text);
  EXPECT_NE(complaint([&] { read_ledger(folder / "ledger"); }).find("its file was renamed"), std::string::npos);
}

}  // namespace
}  // namespace lengthwise
