#include "core/aside_name.h"

#include <gtest/gtest.h>
#include <unistd.h>

namespace lengthwise {
namespace {

TEST(AsideName, IsReadBack) {
  for (const char* path : {"runs/report.html", "name.with.dots", "/a/b.12.part"}) {
    EXPECT_EQ(aside_of(path).parent_path(), std::filesystem::path(path).parent_path());
    EXPECT_EQ(writer_of(aside_of(path), path), ::getpid()) << path;
  }
}

TEST(AsideName, OfAnythingElseHasNoWriter) {
  for (const char* entry : {"a.part", "a..part", "a.x.part", "a.1x.part", "a.-1.part", "a.0.part", "b.12.part", "a.12",
                            "a.12.part.txt", "a.99999999999999999999.part", ""}) {
    EXPECT_FALSE(writer_of(entry, "folder/a")) << entry;
  }
  EXPECT_EQ(writer_of("elsewhere/a.12.part", "folder/a"), 12);
}

}  // namespace
}  // namespace lengthwise
