#include "core/mapped_files.h"

#include <gtest/gtest.h>

#include "tests/core/mistake.h"
#include "tests/core/temporary_folder.h"

namespace lengthwise {
namespace {

TEST(MappedFiles, LieOneBehindTheOther) {
  const TemporaryFolder folder;
  std::string first(MappedFiles::kUnit, 'a');
  first.back() = 'z';
  folder.write("one", first);
  folder.write("two", "and the rest");
  const int64_t unit = MappedFiles::kUnit;
  const MappedFiles mapped({{folder / "one", unit}, {folder / "two", 12}});
  EXPECT_EQ(mapped.bytes(), first + "and the rest");
  EXPECT_TRUE(MappedFiles({}).bytes().empty());
  EXPECT_TRUE(MappedFiles().bytes().empty());
  EXPECT_EQ(mistake_of([&] {
              MappedFiles({{folder / "two", 13}});
            }),
            (folder / "two").string() + " has 12 bytes, and should have 13");
  EXPECT_EQ(mistake_of([&] { MappedFiles({{folder / "none", 1}}); }), (folder / "none").string() + " is missing");
  EXPECT_EQ(mistake_of([&] { MappedFiles({{folder.path(), 1}}); }), folder.path().string() + " is missing");
}

}  // namespace
}  // namespace lengthwise
