/// Calls that throw something other than a UserError at what a user does (a folder without permission, a damaged file)
/// stand in one place each, core/files.cc, core/json.cc and core/toml.cc, and everything else goes through those.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <sstream>

#include "core/files.h"
#include "core/text.h"

namespace lengthwise {
namespace {

namespace fs = std::filesystem;

struct Rule {
  const char* call;
  const char* instead;
};
constexpr Rule kRules[] = {
    {"fs::exists(", "is_there"},
    {"fs::is_directory(", "is_folder"},
    {"fs::is_regular_file(", "is_file"},
    {"fs::is_symlink(", "is_link"},
    {"fs::is_empty(", "list_folder"},
    {"fs::file_size(", "file_bytes"},
    {"directory_iterator", "list_folder"},
    {"fs::create_director", "make_folder"},
    {"fs::rename(", "move_path"},
    {"fs::resize_file(", "shorten_file"},
    {"fs::remove(", "remove_path"},
    {"fs::space(", "free_bytes"},
    {"fs::absolute(", "absolute_path"},
    {"fs::canonical(", "real_path"},
    {"fs::weakly_canonical(", "real_path"},
    {"fs::relative(", "path::lexically_relative"},
    {"fs::current_path(", "absolute_path"},
    {"fs::last_write_time(", "a function of core/files.h"},
    {"temp_directory_path(", "a file aside (AtomicFile)"},
    {"ifstream", "read_file or InputFile"},
    {"ofstream", "AtomicFile or append_file"},
    {"ordered_json::parse(", "parse_json"},
    {"Json::parse(", "parse_json"},
    {"json::parse(", "parse_json"},
    {".dump(", "json_text"},
    {".at(\"", "JsonObject"},
    {".value(\"", "JsonObject"},
    {".get<std::", "JsonObject"},
    {"toml::parse(", "parse_toml"},
};

constexpr const char* kExceptions[] = {"core/files.cc", "core/json.cc", "core/toml.cc"};

/// `std::filesystem::exists(` and `fs::exists(` alike; comments left out.
std::string plain(std::string line) {
  const std::string whole = "std::filesystem::";
  for (size_t at = line.find(whole); at != std::string::npos; at = line.find(whole))
    line.replace(at, whole.size(), "fs::");
  return line.substr(0, std::min(line.find("//"), line.size()));
}

bool is_exception(const std::string& name) {
  return std::any_of(std::begin(kExceptions), std::end(kExceptions),
                     [&](const char* start) { return name.starts_with(start); });
}

/// Every line of every source under a folder of the project, as `body(file, number, line)`. How many files there were.
template <class Body>
size_t for_each_line(const char* folder, const Body& body) {
  const fs::path source = fs::path(LENGTHWISE_SOURCE_DIR) / folder;
  size_t files = 0;
  for (const auto& entry : fs::recursive_directory_iterator(source)) {
    const std::string name = fs::relative(entry.path(), source).string();
    if (!entry.is_regular_file() || !(name.ends_with(".cc") || name.ends_with(".h"))) continue;
    ++files;
    std::istringstream lines(read_file(entry.path()));
    std::string line;
    for (int number = 1; std::getline(lines, line); ++number) body(name, number, plain(line));
  }
  return files;
}

TEST(Sources, ThrowingCallsStandInOnePlace) {
  const size_t files = for_each_line("src", [](const std::string& name, int number, const std::string& line) {
    if (is_exception(name)) return;
    for (const Rule& rule : kRules) {
      EXPECT_EQ(line.find(rule.call), std::string::npos)
          << name << ":" << number << ": " << trim(line) << "\n  " << rule.call << " throws; use " << rule.instead;
    }
  });
  EXPECT_GT(files, 100u) << "the sources were not found";
}

// It crashes where the standard library that is linked is not the one that was compiled against.
TEST(Sources, FoldersAreRemovedByOurOwnFunction) {
  const std::string call = std::string("fs::remove_") + "all(";
  for (const char* folder : {"src", "tests", "bench", "fuzz"}) {
    const size_t files = for_each_line(folder, [&](const std::string& name, int number, const std::string& line) {
      EXPECT_EQ(line.find(call), std::string::npos)
          << folder << "/" << name << ":" << number << ": use remove_folder (core/files.h)";
    });
    EXPECT_GT(files, 0u) << folder;
  }
}

}  // namespace
}  // namespace lengthwise
