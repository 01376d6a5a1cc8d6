#include "train/event_file.h"

#include <gtest/gtest.h>

#include <cstring>

#include "core/checksum.h"
#include "core/files.h"
#include "tests/core/temporary_folder.h"

namespace lengthwise {
namespace {

TEST(EventFile, IsASequenceOfWholeRecords) {
  const TemporaryFolder own;
  const std::string folder = own.path().string();
  {
    EventFile file(folder);
    file.scalar("train/loss", 7, 1.5);
  }
  EventFile(folder).scalar("train/loss", 300, 0.25);  // opened again, nothing is lost
  const std::string bytes = read_file(folder + "/events.out.tfevents.lengthwise");
  size_t at = 0;
  std::vector<std::string> records;
  while (at < bytes.size()) {
    uint64_t size = 0;
    std::memcpy(&size, bytes.data() + at, 8);
    ASSERT_LE(at + 16 + size, bytes.size());
    records.push_back(bytes.substr(at + 12, size));
    EXPECT_EQ(bytes.substr(at, 16 + size), event_record(records.back()));
    at += 16 + size;
  }
  ASSERT_EQ(records.size(), 3U);
  EXPECT_NE(records[0].find("brain.Event:2"), std::string::npos);
  EXPECT_NE(records[1].find("train/loss"), std::string::npos);
  float value = 0;
  std::memcpy(&value, records[2].data() + records[2].size() - 4, 4);
  EXPECT_EQ(value, 0.25F);
}

}  // namespace
}  // namespace lengthwise
