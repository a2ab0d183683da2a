#include "core/file.h"

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <future>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <sys/resource.h>

#include "core/error.h"
#include "core/testing.h"

namespace pipedream {
namespace {

using test::message_of;
using test::TemporaryFolder;
using Names = std::vector<std::string>;

TEST(IsThere, SaysSoOrWhyThatCannotBeTold) {
  const TemporaryFolder folder;
  EXPECT_TRUE(is_there(folder.path()));
  EXPECT_FALSE(is_there(folder.path() / "a"));
  const std::filesystem::path endless = folder.path() / std::string(1000, 'x');
  EXPECT_EQ(message_of<IoError>([&] { (void)is_there(endless); }),
            "cannot read " + endless.string() + ": File name too long");
}

TEST(ReadFile, GivesBackEveryByteThatWasWritten) {
  const TemporaryFolder folder;
  std::string content(200'000, 'x');  // more than one read() returns
  content[7] = '\0';
  content += "\r\n\xff";
  write_file_atomically(folder.path() / "a", content);
  EXPECT_EQ(read_file(folder.path() / "a"), content);
}

TEST(ReadFile, ReadsAnEmptyFileAsAnEmptyText) {
  const TemporaryFolder folder;
  write_file_atomically(folder.path() / "empty", "");
  EXPECT_EQ(read_file(folder.path() / "empty"), "");
}

TEST(ReadFile, NamesAMissingFileAndTheReason) {
  EXPECT_EQ(message_of<IoError>([] { (void)read_file("/no/such/file"); }),
            "cannot read /no/such/file: No such file or directory");
}

TEST(ReadFile, RefusesAFolder) {
  const TemporaryFolder folder;
  EXPECT_EQ(message_of<IoError>([&] { (void)read_file(folder.path()); }),
            "cannot read " + folder.path().string() + ": Is a directory");
}

TEST(WriteFileAtomically, ReplacesTheOldContentAndLeavesNothingElse) {
  const TemporaryFolder folder;
  write_file_atomically(folder.path() / "a", "a long first content");
  write_file_atomically(folder.path() / "a", "second");
  EXPECT_EQ(read_file(folder.path() / "a"), "second");
  EXPECT_EQ(folder.names(), Names{"a"});
}

TEST(WriteFileAtomically, NamesAMissingFolder) {
  EXPECT_EQ(message_of<IoError>([] { write_file_atomically("/no/such/folder/a", "x"); }),
            "cannot write /no/such/folder/a: No such file or directory");
}

TEST(WriteFileAtomically, LeavesNoTemporaryWhenItCannotRename) {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder.path() / "taken");
  EXPECT_EQ(message_of<IoError>([&] { write_file_atomically(folder.path() / "taken", "x"); }),
            "cannot write " + (folder.path() / "taken").string() + ": Is a directory");
  EXPECT_EQ(folder.names(), Names{"taken"});
}

// A limit on file sizes takes the place of a full disk: the write fails halfway.
TEST(WriteFileAtomically, KeepsTheOldContentAndNoTemporaryWhenTheDiskIsFull) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "a";
  write_file_atomically(path, "old");
  const auto fill_the_disk = [&] {
    ::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{100'000, 100'000};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    try {
      write_file_atomically(path, std::string(1'000'000, 'x'));
    } catch (const IoError& error) {
      std::fprintf(stderr, "%s\n", error.what());
      std::_Exit(7);
    }
    std::_Exit(0);
  };
  EXPECT_EXIT(fill_the_disk(), testing::ExitedWithCode(7), "cannot write .*/a: File too large");
  EXPECT_EQ(read_file(path), "old");
  EXPECT_EQ(folder.names(), Names{"a"});
}

TEST(WriteFileAtomically, TwoThreadsOnOneFileNeverShowAMixture) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "a";
  write_file_atomically(path, std::string(100'000, 'a'));
  const auto write = [&](char letter) {
    for (int i = 0; i < 10; ++i) write_file_atomically(path, std::string(100'000, letter));
  };
  auto one = std::async(std::launch::async, write, 'a');
  auto two = std::async(std::launch::async, write, 'b');
  for (int i = 0; i < 20; ++i) {
    const std::string seen = read_file(path);
    EXPECT_TRUE(seen == std::string(100'000, 'a') || seen == std::string(100'000, 'b'));
  }
  one.get();
  two.get();
  EXPECT_EQ(folder.names(), Names{"a"});
}

TEST(WriteFileAtomically, FollowsLinksAndKeepsPermissions) {
  const TemporaryFolder folder;
  write_file_atomically(folder.path() / "file", "old");
  std::filesystem::permissions(folder.path() / "file", std::filesystem::perms::owner_read |
                                                           std::filesystem::perms::owner_write);
  std::filesystem::create_symlink("file", folder.path() / "link");
  write_file_atomically(folder.path() / "link", "new");
  EXPECT_TRUE(std::filesystem::is_symlink(folder.path() / "link"));
  EXPECT_EQ(read_file(folder.path() / "file"), "new");
  EXPECT_EQ(std::filesystem::status(folder.path() / "file").permissions(),
            std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
}

TEST(WriteFileAtomically, LeavesDevicesWhereTheyAre) {
  write_file_atomically("/dev/null", "gone");
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
}

TEST(WriteFileAtomically, RefusesAFolder) {
  const TemporaryFolder folder;
  EXPECT_EQ(message_of<IoError>([&] { write_file_atomically(folder.path(), "x"); }),
            "cannot write " + folder.path().string() + ": Is a directory");
}

TEST(NameWhenFinished, IsThatOfTheFileWhichATemporaryOneBecomes) {
  EXPECT_EQ(name_when_finished("a.json.tmp123"), "a.json");
  for (const std::string name : {"a.json", "a.json.tmp", "a.tmp1x", "123", ""})
    EXPECT_EQ(name_when_finished(name), std::nullopt) << name;
}

TEST(PrepareToWrite, SaysWhatWritingWouldSayAndLeavesNothing) {
  const TemporaryFolder folder;
  EXPECT_EQ(message_of<IoError>([] { prepare_to_write("/dev/null/file"); }),
            "cannot write /dev/null/file: Not a directory");
  prepare_to_write(folder.path() / "new");
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(PrepareToWrite, MakesTheFoldersOfTheFile) {
  const TemporaryFolder folder;
  const auto file = folder.path() / "a" / "b" / "file";
  prepare_to_write(file);
  write_file_atomically(file, "x");
  EXPECT_EQ(read_file(file), "x");
}

}  // namespace
}  // namespace pipedream
