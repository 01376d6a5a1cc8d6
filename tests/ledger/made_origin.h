#pragma once
/// Finished runs with made-up results that say where they come from.
#include "tests/results/made_run.h"

namespace lengthwise {

inline void make_origin(const std::filesystem::path& run, const std::string& commit = "abc1234") {
  const nlohmann::ordered_json origin = {{"format", "lengthwise-origin"},
                                         {"version", 1},
                                         {"commit", commit},
                                         {"machine", "NVIDIA H200"},
                                         {"seconds", 120}};
  write_file(run / "origin.json", origin.dump());
}

inline void make_finished_run(const std::filesystem::path& run, const MadeRun& made) {
  make_run(run, made);
  make_origin(run);
}

}  // namespace lengthwise
