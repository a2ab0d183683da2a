#include "core/file_lock.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/error.h"
#include "core/testing.h"

namespace pipedream {
namespace {

TEST(FileLock, IsHeldByOneAtATime) {
  const test::TemporaryFolder folder;
  const auto file = folder.path() / "lock";
  {
    const auto first = FileLock::try_lock(file);
    ASSERT_TRUE(std::holds_alternative<FileLock>(first));
    const auto second = FileLock::try_lock(file);
    ASSERT_TRUE(std::holds_alternative<std::string>(second));
    EXPECT_EQ(std::get<std::string>(second), std::to_string(::getpid()));
  }
  EXPECT_TRUE(std::holds_alternative<FileLock>(FileLock::try_lock(file))) << "it was given back";
}

TEST(FileLock, GoesWithItsProcess) {
  const test::TemporaryFolder folder;
  const auto file = folder.path() / "lock";
  const pid_t child = ::fork();
  if (child == 0) {
    const auto held = FileLock::try_lock(file);
    std::_Exit(std::holds_alternative<FileLock>(held) ? 0 : 1);  // without any destructor
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_EQ(status, 0);
  EXPECT_TRUE(std::holds_alternative<FileLock>(FileLock::try_lock(file)));
}

TEST(FileLock, ThatCannotBeMadeIsAnError) {
  EXPECT_THROW((void)FileLock::try_lock("/no/such/folder/lock"), IoError);
}

}  // namespace
}  // namespace pipedream
