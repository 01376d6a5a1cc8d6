#pragma once
/// The text files of a run folder, checked against the checksums that its summary.json holds.
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

namespace lengthwise {

class RunFiles {
 public:
  explicit RunFiles(std::filesystem::path folder) : folder_(std::move(folder)) {}

  bool has(const char* name) const;

  /// UserError where it cannot be read or is not the file that the summary speaks of.
  std::string read(const char* name) const;

  /// Reads summary.json and checks its own checksum; from then on `read` checks the others.
  const nlohmann::ordered_json& read_summary();

  /// Whether the summary has the checksum of this file.
  bool vouched(const char* name) const;

 private:
  std::filesystem::path folder_;
  nlohmann::ordered_json summary_ = nlohmann::ordered_json::object();
};

}  // namespace lengthwise
