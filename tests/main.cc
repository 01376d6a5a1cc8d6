// The main program of all tests: GoogleTest's, but suites and tests whose names end in `Long`, which take minutes, are
// left out unless asked for, by --long or by any filter of one's own.
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <iostream>
#include <string_view>

int main(int argc, char** argv) {
  bool chosen = std::getenv("GTEST_FILTER") != nullptr;
  int kept = 1;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    const bool is_long = argument == "--long";
    chosen = chosen || is_long || argument.starts_with("--gtest_filter") || argument.starts_with("--gtest_list_tests");
    if (!is_long) argv[kept++] = argv[i];
  }
  argv[argc = kept] = nullptr;
  testing::InitGoogleTest(&argc, argv);
  if (!chosen) {
    testing::GTEST_FLAG(filter) = "-*Long:*Long.*";
    std::cout << "Suites and tests whose names end in Long are left out; --long runs them too.\n";
  }
  return RUN_ALL_TESTS();
}
