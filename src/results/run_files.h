#pragma once
/// The text files of a run folder, checked against the checksums that its summary.json holds.
#include <filesystem>
#include <string>

#include "core/json.h"

namespace lengthwise {

class RunFiles {
 public:
  explicit RunFiles(std::filesystem::path folder) : folder_(std::move(folder)) {}

  bool has(const char* name) const;

  /// UserError where it cannot be read or is not the file that the summary speaks of.
  std::string read(const char* name) const;

  /// The same as one JSON value, with its own checksum, if it has one, checked too.
  Json read_json(const char* name) const;

  /// Reads summary.json; from then on `read` checks the others.
  JsonObject read_summary();

  /// Whether the summary has the checksum of this file.
  bool vouched(const char* name) const { return checksum(name).has_value(); }

 private:
  std::optional<std::string> checksum(const char* name) const;

  std::filesystem::path folder_;
  Json summary_ = Json::object();
};

}  // namespace lengthwise
