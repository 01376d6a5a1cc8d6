#pragma once
/// Run folders with made-up results.
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "core/checksum.h"
#include "core/files.h"
#include "core/json.h"

namespace lengthwise {

struct MadeRun {
  std::string task = "sort";
  std::string encoding = "nope";
  int64_t seed = 1;
  std::string label = {}, family = {};                                ///< of the encoding; empty: not said
  nlohmann::ordered_json options = nlohmann::ordered_json::object();  ///< beside those above
  int64_t trained_correct = 10;                                       ///< of 10, at lengths 1 and 2
  int64_t longer_correct = 5;                                         ///< of 10, at length 3; half of it at length 4
  int64_t first_test = 3;                                             ///< instead of 3; the second is one more
  double loss = 0.25;
  double training_seconds = 0;  ///< 0: there is no origin.json
  int64_t parameters = 1234;
  bool finished = true;
  bool checksums = false;  ///< of the files, in summary.json
};

inline void make_run(const std::filesystem::path& folder, const MadeRun& run) {
  make_folder(folder);
  Json options = {{"task", run.task},     {"encoding", run.encoding}, {"seed", run.seed},
                  {"scratchpad", "none"}, {"train-lengths", "1:2"},   {"steps", 100}};
  options.update(run.options);
  Json config = {
      {"format", "lengthwise-run"}, {"version", 1}, {"lengthwise", "0.1.0"}, {"torch", "2.11.0"}, {"options", options}};
  if (!run.label.empty()) config["encoding_label"] = run.label;
  if (!run.family.empty()) config["encoding_family"] = run.family;
  write_file(folder / "config.json", config.dump(2));
  write_file(folder / "metrics.jsonl",
             "{\"step\":1,\"loss\":2.5,\"lr\":0.1,\"gradient_norm\":1}\n"
             "{\"step\":50,\"loss\":0.5,\"lr\":0.1,\"gradient_norm\":1}\n" +
                 std::string("{\"step\":50,\"validation_loss\":0.4,\"validation_exact_match\":0.75}\n") +
                 (run.finished ? "{\"step\":100,\"validation_loss\":0.3,\"validation_exact_match\":0.5}\n"
                               : "{\"step\":51,\"lo"));
  if (!run.finished) return;
  std::string rows;
  const auto add = [&](const char* selection, const char* split, int64_t length, int64_t correct) {
    const double accuracy = static_cast<double>(correct) / 10;
    rows +=
        Json{{"selection", selection}, {"split", split}, {"length", length}, {"count", 10},     {"correct", correct},
             {"accuracy", accuracy},   {"low", 0.1},     {"high", 0.9},      {"loss", run.loss}}
            .dump() +
        "\n";
  };
  for (const char* selection : {"best", "last"}) {
    const bool last = std::string(selection) == "last";
    add(selection, "validation", 1, run.trained_correct);
    add(selection, "validation", 2, run.trained_correct);
    add(selection, "test", run.first_test, last ? 0 : run.longer_correct);
    add(selection, "test", run.first_test + 1, last ? 0 : run.longer_correct / 2);
    const int64_t correct = last ? 0 : run.longer_correct + run.longer_correct / 2;
    rows += Json{{"selection", selection}, {"split", "test"},
                 {"category", "3-by-1"},   {"count", 20},
                 {"correct", correct},     {"accuracy", static_cast<double>(correct) / 20}}
                .dump() +
            "\n";
  }
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
  const auto section = [&](int64_t correct) {
    return Json{{"step", 50},
                {"in_distribution", static_cast<double>(run.trained_correct) / 10},
                {"out_of_distribution", static_cast<double>(correct) / 20},
                {"out_of_distribution_interval", {{"count", 20}, {"correct", correct}}}};
  };
  Json summary = {{"format", "lengthwise-summary"},
                  {"version", 1},
                  {"decoding", "teacher-forcing"},
                  {"parameters", run.parameters},
                  {"best", section(run.longer_correct + run.longer_correct / 2)},
                  {"last", section(0)}};
  if (run.training_seconds > 0) {
    const Json origin = {{"format", "lengthwise-origin"},
                         {"version", 1},
                         {"commit", "0123abc"},
                         {"machine", "Some CPU"},
                         {"seconds", run.training_seconds}};
    write_file(folder / "origin.json", origin.dump(2));
  }
  if (run.checksums) {
    for (const char* name : {"config.json", "metrics.jsonl", "eval.jsonl", "examples.jsonl"}) {
      summary["files"][name] = checksum_of(read_file(folder / name));
    }
    summary["files"]["best.safetensors"] = "crc32c:00000000";
    seal(summary);
  }
  write_file(folder / "summary.json", summary.dump(2) + "\n");
}

}  // namespace lengthwise
