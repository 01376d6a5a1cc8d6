#include "core/files.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <csignal>

#include "core/error.h"
#include "tests/core/few_files.h"
#include "tests/core/mistake.h"
#include "tests/core/temporary_folder.h"

namespace lengthwise {
namespace {

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
  EXPECT_EQ(mistake_of([&] { write_file(path, "x"); }),
            "cannot write " + path.string() + ": No such file or directory");
  std::filesystem::create_directory(folder / "taken");
  EXPECT_EQ(mistake_of([&] { write_file(folder / "taken", "x"); }),
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
  const std::string message = mistake_of([&] { write_file(folder / "a.txt", std::string(4 << 20, 'x')); });
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  std::signal(SIGXFSZ, signal_before);
  EXPECT_EQ(message, "cannot write " + (folder / "a.txt").string() + ": File too large");
  EXPECT_EQ(folder.size(), 0u);
}

TEST(Files, ReadingSaysWhatIsMissing) {
  const TemporaryFolder folder;
  EXPECT_EQ(mistake_of([&] { read_file(folder / "nothing"); }),
            "cannot read " + (folder / "nothing").string() + ": No such file or directory");
  EXPECT_NE(mistake_of([&] { read_file(folder.path()); }), "") << "a folder is not a file";
}

TEST(Files, OnlyOrdinaryFilesAreRead) {
  const TemporaryFolder folder;
  ASSERT_EQ(::mkfifo((folder / "pipe").c_str(), 0600), 0);
  const std::string pipe = mistake_of([&] { read_file(folder / "pipe"); });  // and is not waited for
  EXPECT_EQ(pipe, "cannot read " + (folder / "pipe").string() + ": it is a pipe, not a file");
  EXPECT_EQ(mistake_of([&] { read_file(folder.path()); }),
            "cannot read " + folder.path().string() + ": it is a folder, not a file");
  EXPECT_EQ(mistake_of([] { read_file("/dev/null"); }), "cannot read /dev/null: it is a device, not a file");
  std::filesystem::create_symlink(folder / "pipe", folder / "link");
  EXPECT_NE(mistake_of([&] { read_file(folder / "link"); }), "");
  EXPECT_FALSE(is_file(folder / "pipe"));
  EXPECT_TRUE(is_there(folder / "pipe"));
}

TEST(Files, ReadingHasALimit) {
  const TemporaryFolder folder;
  write_file(folder / "a", "12345");
  EXPECT_EQ(read_file(folder / "a", 5), "12345");
  EXPECT_EQ(mistake_of([&] { read_file(folder / "a", 4); }),
            "cannot read " + (folder / "a").string() + ": it has 5 bytes, more than the 4 that are read here");
  // One that holds nothing on the disk and would fill the memory.
  write_file(folder / "sparse", "");
  std::filesystem::resize_file(folder / "sparse", uintmax_t{1} << 40);
  EXPECT_NE(mistake_of([&] { read_file(folder / "sparse"); }), "");
}

TEST(Files, ReadsFilesThatDoNotSayHowLongTheyAre) {
  EXPECT_NE(read_file("/proc/self/status").find("Name:"), std::string::npos);
}

TEST(Files, EveryMistakeIsOneLine) {
  const TemporaryFolder folder;
  const auto loop = folder / "loop";
  std::filesystem::create_symlink("loop", loop);
  const std::filesystem::path longest = folder / std::string(300, 'x');
  for (const auto& path : {loop, longest, loop / "inside", longest / "inside"}) {
    EXPECT_NE(mistake_of([&] { is_there(path); }), "") << path;
    EXPECT_NE(mistake_of([&] { is_folder(path); }), "") << path;
    EXPECT_NE(mistake_of([&] { is_file(path); }), "") << path;
    EXPECT_NE(mistake_of([&] { file_bytes(path); }), "") << path;
    EXPECT_NE(mistake_of([&] { list_folder(path); }), "") << path;
    EXPECT_NE(mistake_of([&] { read_file(path); }), "") << path;
    EXPECT_NE(mistake_of([&] { append_file(path, "x"); }), "") << path;
    EXPECT_NE(mistake_of([&] { make_folder(path); }), "") << path;
    EXPECT_NE(mistake_of([&] { shorten_file(path, 0); }), "") << path;
    free_bytes(path);
  }
  EXPECT_NE(mistake_of([&] { real_path(loop / "inside"); }), "");
  EXPECT_NE(mistake_of([&] { write_file(longest, "x"); }), "");
  EXPECT_NE(mistake_of([&] { move_path(folder / "nothing", folder / "else"); }), "");
  make_folder(folder / "full" / "inner");
  EXPECT_NE(mistake_of([&] { remove_path(folder / "full"); }), "");
  remove_folder(folder / "full");
  EXPECT_FALSE(is_there(folder / "full"));
  EXPECT_TRUE(is_link(loop));
}

TEST(RemoveFolder, TakesAllThatIsInsideAndFollowsNoLink) {
  const TemporaryFolder folder;
  make_folder(folder / "kept/inner");
  write_file(folder / "kept/file", "x");
  std::filesystem::path deep = folder / "full";
  for (int level = 0; level < 60; ++level) deep /= "level";
  make_folder(deep);
  write_file(deep / "file", "x");
  write_file(folder / "full/.hidden", "x");
  write_file(folder / "full/\xff", "x");
  ASSERT_EQ(::mkfifo((folder / "full/pipe").c_str(), 0600), 0);
  std::filesystem::create_symlink(folder / "kept", folder / "full/link");
  std::filesystem::create_symlink("loop", folder / "full/loop");
  std::filesystem::create_symlink("nothing", folder / "full/dangling");
  remove_folder(folder / "full");
  EXPECT_FALSE(is_there(folder / "full"));
  EXPECT_EQ(list_folder(folder / "kept"), (std::vector{folder / "kept/file", folder / "kept/inner"}));
  std::filesystem::create_symlink(folder / "kept", folder / "link");
  remove_folder(folder / "link");
  EXPECT_FALSE(is_link(folder / "link"));
  EXPECT_EQ(list_folder(folder / "kept").size(), 2u);
  remove_folder(folder / "kept/file");
  remove_folder(folder / "nothing");
  remove_folder(folder / "kept/nothing/inside");
  EXPECT_EQ(list_folder(folder.path()), std::vector{folder / "kept"});
}

TEST(RemoveFolder, SaysWhatCannotBeRemoved) {
  EXPECT_EQ(mistake_of([] { remove_folder("/proc/self/task"); }).find("cannot remove /proc/self/task"), 0u);
  EXPECT_NE(mistake_of([] { remove_folder(std::string(300, 'x')); }), "");
}

TEST(RemoveFolder, OfAnEmptyOneNeedsNoOpenFile) {
  const TemporaryFolder folder;
  make_folder(folder / "empty");
  make_folder(folder / "full/inner");
  {
    const FewFiles none(0);
    remove_folder(folder / "empty");
    EXPECT_EQ(mistake_of([&] { remove_folder(folder / "full"); }),
              "cannot remove " + (folder / "full").string() + ": Too many open files");
  }
  {
    const FewFiles one(1);
    remove_folder(folder / "full");
  }
  EXPECT_EQ(folder.size(), 0u);
}

TEST(Files, FoldersAreListedInOrder) {
  const TemporaryFolder folder;
  for (const char* name : {"b", "a", "\xff", ".lock"}) write_file(folder / name, "");
  EXPECT_EQ(list_folder(folder.path()), (std::vector{folder / ".lock", folder / "a", folder / "b", folder / "\xff"}));
  EXPECT_NE(mistake_of([&] { list_folder(folder / "a"); }), "");
}

TEST(Files, AppendsAndCuts) {
  const TemporaryFolder folder;
  append_file(folder / "a", "12");
  append_file(folder / "a", "345");
  EXPECT_EQ(read_file(folder / "a"), "12345");
  shorten_file(folder / "a", 3);
  EXPECT_EQ(read_file(folder / "a"), "123");
  EXPECT_EQ(file_bytes(folder / "a"), 3);
}

TEST(Files, DevicesAndPipesAreNotReplaced) {
  const TemporaryFolder folder;
  ASSERT_EQ(::mkfifo((folder / "pipe").c_str(), 0600), 0);
  EXPECT_NE(mistake_of([&] { write_file(folder / "pipe", "x"); }), "");
  EXPECT_NE(mistake_of([&] { append_file(folder / "pipe", "x"); }), "");
  EXPECT_NE(mistake_of([] { write_file("/dev/null", "x"); }), "");
  EXPECT_EQ(folder.size(), 1u);
}

TEST(Leftovers, OfAKilledWriterGoWhenTheFileIsWrittenAgain) {
  const TemporaryFolder folder;
  for (const char* name : {"page.html.123.part", "page.html.x1.part", "other.html.123.part", "page.html.part"}) {
    write_file(folder.path() / name, "half");
  }
  AtomicFile other(folder.path() / "page.html");  // of this process, which lives
  write_file(folder.path() / "own", "whole");
  std::filesystem::rename(folder.path() / "page.html.123.part", folder.path() / "own.123.part");
  write_file(folder.path() / "own", "whole");
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "own.123.part"));
  write_file(folder.path() / "page.html.7.part", "half");
  other.commit();
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "page.html.7.part"));
  for (const char* name : {"page.html.x1.part", "other.html.123.part", "page.html.part"}) {
    EXPECT_TRUE(std::filesystem::exists(folder.path() / name)) << name;
  }
}

TEST(Leftovers, AreRemovedUnlessSomeoneWritesThem) {
  const TemporaryFolder folder;
  write_file(folder / "a.txt.99.part", "of a dead process");
  write_file(folder / "kept.txt", "");
  make_folder(folder / "folder.part");
  AtomicFile living(folder / "b.txt");
  living.write("x");
  clear_leftovers(folder.path());
  EXPECT_FALSE(is_there(folder / "a.txt.99.part"));
  EXPECT_EQ(folder.size(), 3u);
  living.commit();
  EXPECT_EQ(read_file(folder / "b.txt"), "x");
}

TEST(AtomicFile, ReplacesBytesBeforeTheEnd) {
  const TemporaryFolder folder;
  AtomicFile file(folder / "a");
  file.write("head ");
  file.write(std::string(2 << 20, 'x'));
  file.write_at(1, "EA");
  file.write("end");
  file.commit();
  EXPECT_EQ(read_file(folder / "a"), "hEAd " + std::string(2 << 20, 'x') + "end");
}

TEST(Files, MakesFoldersWithTheirParents) {
  const TemporaryFolder folder;
  make_folder(folder / "a" / "b" / "c");
  make_folder(folder / "a" / "b" / "c");
  EXPECT_TRUE(std::filesystem::is_directory(folder / "a" / "b" / "c"));
  write_file(folder / "file", "");
  EXPECT_NE(mistake_of([&] { make_folder(folder / "file" / "x"); }), "");
}

}  // namespace
}  // namespace lengthwise
