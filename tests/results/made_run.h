#pragma once
/// Run folders with made-up results.
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "core/files.h"

namespace lengthwise {

struct MadeRun {
  std::string task = "sort";
  std::string encoding = "nope";
  int64_t seed = 1;
  nlohmann::ordered_json options = nlohmann::ordered_json::object();  ///< beside those above
  int64_t trained_correct = 10;                                       ///< of 10, at lengths 1 and 2
  int64_t longer_correct = 5;                                         ///< of 10, at length 3; half of it at length 4
  bool finished = true;
};

inline void make_run(const std::filesystem::path& folder, const MadeRun& run) {
  using Json = nlohmann::ordered_json;
  make_folder(folder);
  Json options = {{"task", run.task},     {"encoding", run.encoding}, {"seed", run.seed},
                  {"scratchpad", "none"}, {"train-lengths", "1:2"},   {"steps", 100}};
  options.update(run.options);
  const Json config = {
      {"format", "lengthwise-run"}, {"version", 1}, {"lengthwise", "0.1.0"}, {"torch", "2.11.0"}, {"options", options}};
  write_file(folder / "config.json", config.dump(2));
  write_file(folder / "metrics.jsonl",
             "{\"step\":1,\"loss\":2.5,\"lr\":0.1,\"gradient_norm\":1}\n"
             "{\"step\":50,\"loss\":0.5,\"lr\":0.1,\"gradient_norm\":1}\n"
             "{\"step\":50,\"validation_loss\":0.4,\"validation_exact_match\":0.75}\n{\"step\":51,\"lo");
  if (!run.finished) return;
  std::string rows;
  const auto add = [&](const char* selection, const char* split, int64_t length, int64_t correct) {
    const double accuracy = static_cast<double>(correct) / 10;
    rows += Json{{"selection", selection}, {"split", split}, {"length", length}, {"count", 10}, {"correct", correct},
                 {"accuracy", accuracy},   {"low", 0.1},     {"high", 0.9},      {"loss", 0.25}}
                .dump() +
            "\n";
  };
  for (const char* selection : {"best", "last"}) {
    const bool last = std::string(selection) == "last";
    add(selection, "validation", 1, run.trained_correct);
    add(selection, "validation", 2, run.trained_correct);
    add(selection, "test", 3, last ? 0 : run.longer_correct);
    add(selection, "test", 4, last ? 0 : run.longer_correct / 2);
  }
  rows += "{\"selection\":\"best\",\"split\":\"test\",\"category\":\"3-by-1\",\"count\":9,\"correct\":9}\n";
  write_file(folder / "eval.jsonl", rows);
  write_file(folder / "examples.jsonl", Json{{"selection", "best"},
                                             {"split", "test"},
                                             {"length", 3},
                                             {"prompt", "Sort </script> 3 1 2 ?"},
                                             {"target", "1 2 3"},
                                             {"answer", "1 3 2"},
                                             {"correct", false}}
                                                .dump() +
                                            "\n");
  const Json section = {{"step", 50}};
  write_file(folder / "summary.json", Json{{"format", "lengthwise-summary"},
                                           {"version", 1},
                                           {"decoding", "teacher-forcing"},
                                           {"parameters", 1234},
                                           {"best", section},
                                           {"last", section}}
                                          .dump());
}

}  // namespace lengthwise
