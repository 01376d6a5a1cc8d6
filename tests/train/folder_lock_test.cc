#include "train/folder_lock.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "core/error.h"
#include "core/files.h"
#include "tests/core/temporary_folder.h"

namespace lengthwise {
namespace {

TEST(FolderLock, IsHeldByOneAtATime) {
  const TemporaryFolder folder;
  EXPECT_FALSE(FolderLock::is_held(folder.path()));
  {
    const auto first = FolderLock::try_lock(folder.path());
    ASSERT_TRUE(first.has_value());
    EXPECT_TRUE(FolderLock::is_held(folder.path()));
    EXPECT_FALSE(FolderLock::try_lock(folder.path()).has_value());
  }
  EXPECT_FALSE(FolderLock::is_held(folder.path()));
  EXPECT_TRUE(FolderLock::try_lock(folder.path()).has_value());
}

TEST(FolderLock, GoesWithAProcessThatIsKilled) {
  const TemporaryFolder folder;
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const FolderLock lock = FolderLock::wait(folder.path());
    const char byte = 'x';
    if (::write(ready[1], &byte, 1) != 1) ::_exit(1);
    ::pause();
    ::_exit(0);
  }
  char byte = 0;
  ASSERT_EQ(::read(ready[0], &byte, 1), 1);
  EXPECT_TRUE(FolderLock::is_held(folder.path()));
  EXPECT_FALSE(FolderLock::try_lock(folder.path()).has_value());
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  EXPECT_TRUE(FolderLock::try_lock(folder.path()).has_value());
  ::close(ready[0]);
  ::close(ready[1]);
}

TEST(FolderLock, OfAFolderThatWasMovedLocksNothing) {
  const TemporaryFolder folder;
  make_folder(folder / "a");
  const auto first = FolderLock::try_lock(folder / "a");
  std::filesystem::rename(folder / "a", folder / "b");
  make_folder(folder / "a");
  EXPECT_TRUE(FolderLock::try_lock(folder / "a").has_value());
  EXPECT_FALSE(FolderLock::try_lock(folder / "b").has_value());
}

TEST(FolderLock, NeedsAFolder) {
  const TemporaryFolder folder;
  EXPECT_FALSE(FolderLock::is_held(folder / "none"));
  EXPECT_THROW(FolderLock::try_lock(folder / "none"), UserError);
}

}  // namespace
}  // namespace lengthwise
