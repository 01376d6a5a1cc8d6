#pragma once
/// A folder of its own for a test, and what a UserError said.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <functional>
#include <string>

#include "core/error.h"
#include "core/files.h"
#include "tests/core/mistake.h"

namespace lengthwise {

class TemporaryFolder {
 public:
  TemporaryFolder() {
    const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
    path_ = std::filesystem::temp_directory_path() /
            fmt::format("lengthwise-{}-{}-{}", test->test_suite_name(), test->name(), ::getpid());
    std::filesystem::remove_all(path_);
    make_folder(path_);
  }
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }

  void write(const std::string& name, const std::string& text) const { write_file(path_ / name, text); }

 private:
  std::filesystem::path path_;
};

}  // namespace lengthwise
