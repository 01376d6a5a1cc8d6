#include "core/files.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>

#include "core/error.h"
#include "tests/core/temporary_folder.h"

namespace lengthwise {
namespace {

std::string error_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

TEST(AtomicFile, AppearsOnlyWhenCommitted) {
  const TemporaryFolder folder;
  {
    AtomicFile file(folder / "a.txt");
    file.write("hello ");
    file.write("world");
    EXPECT_FALSE(std::filesystem::exists(folder / "a.txt"));
    file.commit();
  }
  EXPECT_EQ(read_file(folder / "a.txt"), "hello world");
  EXPECT_EQ(folder.size(), 1u);
}

TEST(AtomicFile, LeavesNothingWithoutCommit) {
  const TemporaryFolder folder;
  write_file(folder / "a.txt", "old");
  {
    AtomicFile file(folder / "a.txt");
    file.write(std::string(3 << 20, 'x'));  // past the buffer, so that some of it is on the disk
  }
  EXPECT_EQ(read_file(folder / "a.txt"), "old");
  EXPECT_EQ(folder.size(), 1u);
}

TEST(AtomicFile, ReplacesWholeFiles) {
  const TemporaryFolder folder;
  std::string bytes;
  for (int i = 0; i < 3 << 20; ++i) bytes += static_cast<char>(i * 31);
  write_file(folder / "a.bin", "a longer text than nothing");
  write_file(folder / "a.bin", bytes);
  EXPECT_EQ(read_file(folder / "a.bin"), bytes);
  write_file(folder / "a.bin", "");
  EXPECT_EQ(read_file(folder / "a.bin"), "");
}

TEST(AtomicFile, NamesTheFileAndTheReason) {
  const TemporaryFolder folder;
  const auto path = folder / "no" / "such" / "a.txt";
  EXPECT_EQ(error_of([&] { write_file(path, "x"); }), "cannot write " + path.string() + ": No such file or directory");
  std::filesystem::create_directory(folder / "taken");
  EXPECT_EQ(error_of([&] { write_file(folder / "taken", "x"); }),
            "cannot write " + (folder / "taken").string() + ": Is a directory");
  EXPECT_EQ(folder.size(), 1u);
}

TEST(AtomicFile, LeavesNothingWhenTheDiskIsFull) {
  const TemporaryFolder folder;
  // A limit on the size of files stands in for the full disk: write() fails in the same way.
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto signal_before = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{.rlim_cur = 1 << 20, .rlim_max = before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  const std::string message = error_of([&] { write_file(folder / "a.txt", std::string(4 << 20, 'x')); });
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  std::signal(SIGXFSZ, signal_before);
  EXPECT_EQ(message, "cannot write " + (folder / "a.txt").string() + ": File too large");
  EXPECT_EQ(folder.size(), 0u);
}

TEST(Files, ReadingSaysWhatIsMissing) {
  const TemporaryFolder folder;
  EXPECT_EQ(error_of([&] { read_file(folder / "nothing"); }),
            "cannot read " + (folder / "nothing").string() + ": No such file or directory");
  EXPECT_NE(error_of([&] { read_file(folder.path()); }), "") << "a folder is not a file";
}

TEST(Files, MakesFoldersWithTheirParents) {
  const TemporaryFolder folder;
  make_folder(folder / "a" / "b" / "c");
  make_folder(folder / "a" / "b" / "c");
  EXPECT_TRUE(std::filesystem::is_directory(folder / "a" / "b" / "c"));
  write_file(folder / "file", "");
  EXPECT_NE(error_of([&] { make_folder(folder / "file" / "x"); }), "");
}

}  // namespace
}  // namespace lengthwise
