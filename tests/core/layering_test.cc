/// The shape of the source tree: includes go one way, and files stay small.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <sstream>

#include "core/files.h"
#include "core/text.h"

namespace lengthwise {
namespace {

namespace fs = std::filesystem;

/// Folder -> the folders it may include, as the build declares them (cmake/lengthwise_library.cmake).
std::map<std::string, std::set<std::string>> read_layers() {
  std::map<std::string, std::set<std::string>> layers;
  std::istringstream lines(read_file(fs::path(LENGTHWISE_BINARY_DIR) / "layers.txt"));
  std::string line;
  while (std::getline(lines, line)) {
    const auto words = split_words(line);
    if (words.empty()) continue;
    auto& allowed = layers[std::string(words[0])];
    allowed.insert(words.begin() + 1, words.end());
  }
  return layers;
}

bool is_source(const fs::path& path) {
  const std::string suffix = path.extension().string();
  return suffix == ".h" || suffix == ".cc" || suffix == ".cu" || suffix == ".cuh";
}

std::vector<fs::path> sources_under(const fs::path& folder) {
  std::vector<fs::path> sources;
  if (!fs::exists(folder)) return sources;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file() && is_source(entry.path())) sources.push_back(entry.path());
  }
  std::sort(sources.begin(), sources.end());
  return sources;
}

/// `core` for a line `#include "core/error.h"`, otherwise "".
std::string included_folder(std::string_view line) {
  line = trim(line);
  if (!line.starts_with("#")) return "";
  line = trim(line.substr(1));
  if (!line.starts_with("include")) return "";
  line = trim(line.substr(7));
  if (!line.starts_with("\"")) return "";
  line.remove_prefix(1);
  const size_t slash = line.find('/');
  return slash == std::string_view::npos ? "(no folder)" : std::string(line.substr(0, slash));
}

const fs::path kSource = fs::path(LENGTHWISE_SOURCE_DIR) / "src";

TEST(Layering, EveryFolderIsDeclared) {
  const auto layers = read_layers();
  ASSERT_FALSE(layers.empty());
  for (const auto& entry : fs::directory_iterator(kSource)) {
    if (!entry.is_directory() || sources_under(entry.path()).empty()) continue;
    EXPECT_TRUE(layers.contains(entry.path().filename().string()))
        << entry.path() << " has no lengthwise_library() in src/CMakeLists.txt";
  }
}

TEST(Layering, DeclaredFoldersOnlyUseEarlierOnes) {
  // layers.txt is in the order of declaration, so "earlier" is what makes a circle impossible.
  std::set<std::string> earlier;
  std::istringstream lines(read_file(fs::path(LENGTHWISE_BINARY_DIR) / "layers.txt"));
  std::string line;
  while (std::getline(lines, line)) {
    const auto words = split_words(line);
    if (words.empty()) continue;
    for (size_t i = 1; i < words.size(); ++i) {
      EXPECT_TRUE(earlier.contains(std::string(words[i]))) << words[0] << " depends on " << words[i];
    }
    earlier.emplace(words[0]);
  }
}

TEST(Layering, IncludesGoOneWay) {
  size_t includes = 0;
  for (const auto& [folder, allowed] : read_layers()) {
    for (const fs::path& source : sources_under(kSource / folder)) {
      std::istringstream lines(read_file(source));
      std::string line;
      for (int number = 1; std::getline(lines, line); ++number) {
        const std::string included = included_folder(line);
        if (included.empty()) continue;
        ++includes;
        EXPECT_TRUE(included == folder || allowed.contains(included))
            << source.string() << ":" << number << ": " << folder << " may not include " << included << ": " << line;
      }
    }
  }
  EXPECT_GT(includes, 20u) << "the includes were not found";
}

TEST(Layering, TheParserOfIncludesWorks) {
  EXPECT_EQ(included_folder("#include \"core/error.h\""), "core");
  EXPECT_EQ(included_folder("  #  include \"tasks/a/b.h\"  // why"), "tasks");
  EXPECT_EQ(included_folder("#include \"error.h\""), "(no folder)");
  EXPECT_EQ(included_folder("#include <vector>"), "");
  EXPECT_EQ(included_folder("// #include \"core/error.h\""), "");
}

TEST(Layering, FilesStaySmall) {
  constexpr int64_t kMostLines = 400;
  for (const char* folder : {"src", "tests", "fuzz", "bench"}) {
    for (const fs::path& source : sources_under(fs::path(LENGTHWISE_SOURCE_DIR) / folder)) {
      const std::string text = read_file(source);
      EXPECT_LE(std::count(text.begin(), text.end(), '\n'), kMostLines) << source << " wants to be two files";
    }
  }
}

}  // namespace
}  // namespace lengthwise
