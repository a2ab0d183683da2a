#include "checkpoint/folder.h"

#include <array>
#include <fstream>

#include <gtest/gtest.h>

#include "checkpoint/disk_testing.h"
#include "checkpoint/manifest_testing.h"
#include "core/checksum.h"
#include "core/file.h"
#include "core/testing.h"

namespace pipedream::checkpoint {
namespace {

namespace fs = std::filesystem;

// Writes a checkpoint of two files, whose content says the step.
void write_checkpoint(Disk& disk, const fs::path& folder, std::int64_t step) {
  NewCheckpoint made(disk, folder, step);
  Manifest manifest = manifest_of(step);
  const std::string step_text = std::to_string(step);
  for (const std::string name : {"worker0.safetensors", "worker1.safetensors"})
    manifest.files.push_back(
        made.add(name, std::array{std::string_view("state at "), std::string_view(step_text)}));
  made.finish(manifest);
}

// The step of the newest sound checkpoint; -1 if there is none.
std::int64_t newest_in(const fs::path& folder) {
  const Newest newest = newest_sound(folder);
  if (!newest.found) return -1;
  EXPECT_EQ(read_file(newest.found->path / "worker1.safetensors"),
            "state at " + std::to_string(newest.found->step));
  return newest.found->step;
}

TEST(CheckpointFolder, TheNewestIsFoundByItsNumber) {
  const test::TemporaryFolder folder;
  EXPECT_EQ(newest_in(folder.path()), -1);
  EXPECT_EQ(newest_in(folder.path() / "absent"), -1);
  for (const std::int64_t step : {900, 1200, 100})
    write_checkpoint(real_disk(), folder.path(), step);
  EXPECT_EQ(newest_in(folder.path()), 1200);
  ASSERT_EQ(find_checkpoints(folder.path()).size(), 3u);
  EXPECT_EQ(find_checkpoints(folder.path()).front().path.filename(), "step-00000100");
}

TEST(CheckpointFolder, OtherNamesAreNoCheckpoints) {
  const test::TemporaryFolder folder;
  for (const std::string name : {"step-", "step-12", "step-0000001x", "step--0000001", "notes"})
    fs::create_directory(folder.path() / name);
  EXPECT_TRUE(find_checkpoints(folder.path()).empty());
}

TEST(CheckpointFolder, AnUnsoundOneOfTheSameStepIsReplaced) {
  const test::TemporaryFolder folder;
  write_checkpoint(real_disk(), folder.path(), 7);
  write_file_atomically(folder.path() / "step-00000007" / "worker0.safetensors", "damaged");
  EXPECT_EQ(newest_in(folder.path()), -1);
  write_checkpoint(real_disk(), folder.path(), 7);
  EXPECT_EQ(newest_in(folder.path()), 7);
}

// Writes the steps 1 to 3, and removes step 1 as soon as there are three.
void write_three(Disk& disk, const fs::path& folder) {
  remove_unfinished(disk, folder);
  for (const std::int64_t step : {1, 2, 3}) write_checkpoint(disk, folder, step);
  remove_checkpoint(disk, find_checkpoints(folder).front().path);
}

TEST(CheckpointFolder, AfterACrashAtAnyCallThereIsASoundOne) {
  const test::TemporaryFolder folder;
  JournalDisk disk;
  write_three(disk, folder.path());
  std::int64_t seen = -1;
  for (std::size_t calls = 0; calls <= disk.calls.size(); ++calls)
    for (const Loss loss : {Loss::kAll, Loss::kContents, Loss::kHalves}) {
      CrashedDisk crashed(folder.path());
      for (std::size_t i = 0; i < calls; ++i) crashed.apply(disk.calls[i]);
      const test::TemporaryFolder left;
      crashed.leave(left.path(), loss);
      const std::int64_t newest = newest_in(left.path());
      if (loss == Loss::kAll) {
        EXPECT_GE(newest, seen) << "a checkpoint that was complete is lost after call " << calls;
        seen = newest;
      }
    }
  EXPECT_EQ(seen, 3);
}

// The training goes on after a failure, and later writes a checkpoint again.
TEST(CheckpointFolder, AnErrorAtAnyCallLeavesTheLastSoundOne) {
  JournalDisk counting;
  {
    const test::TemporaryFolder folder;
    write_three(counting, folder.path());
  }
  for (const bool for_good : {false, true})
    for (std::size_t call = 0; call < counting.calls.size(); ++call) {
      SCOPED_TRACE("call " + std::to_string(call));
      const test::TemporaryFolder folder;
      JournalDisk disk(call, for_good);
      std::int64_t written = -1;
      for (const std::int64_t step : {1, 2, 3}) try {
          write_checkpoint(disk, folder.path(), step);
          written = step;
        } catch (const IoError&) {
        }
      // If only the last sync failed, the checkpoint may be there nevertheless.
      EXPECT_GE(newest_in(folder.path()), written);
      remove_unfinished(real_disk(), folder.path());
      write_checkpoint(real_disk(), folder.path(), 4);
      EXPECT_EQ(newest_in(folder.path()), 4);
    }
}

// Writes a file without syncing it, which would take most of the time of these tests.
void put(const fs::path& file, const std::string& content) {
  std::ofstream(file, std::ios::binary) << content;
}

// Replaces the content of one file by `damaged`, and expects that the checkpoint of step 2 is
// skipped, with the file named, and that of step 1 taken.
void expect_skipped(const fs::path& folder, const fs::path& file, const std::string& damaged) {
  const std::string sound = read_file(file);
  put(file, damaged);
  const Newest newest = newest_sound(folder);
  ASSERT_TRUE(newest.found.has_value());
  EXPECT_EQ(newest.found->step, 1);
  ASSERT_EQ(newest.skipped.size(), 1u);
  EXPECT_NE(newest.skipped[0].damage.why.find(file.filename().string()), std::string::npos)
      << newest.skipped[0].damage.why;
  put(file, sound);
}

TEST(CheckpointFolder, EveryDamagedByteAndEveryTruncationIsFound) {
  const test::TemporaryFolder folder;
  for (const std::int64_t step : {1, 2}) write_checkpoint(real_disk(), folder.path(), step);
  const fs::path newest = folder.path() / folder_name(2);
  for (const std::string name : {kManifestFile, "worker0.safetensors", "worker1.safetensors"}) {
    const std::string sound = read_file(newest / name);
    for (std::size_t i = 0; i < sound.size(); ++i) {
      SCOPED_TRACE(name + ", byte " + std::to_string(i));
      std::string damaged = sound;
      damaged[i] = static_cast<char>(damaged[i] ^ (1 << (i % 8)));
      expect_skipped(folder.path(), newest / name, damaged);
      expect_skipped(folder.path(), newest / name, sound.substr(0, i));
    }
  }
  EXPECT_EQ(newest_in(folder.path()), 2);
}

TEST(CheckpointFolder, FilesOfTwoStepsDoNotMix) {
  const test::TemporaryFolder folder;
  for (const std::int64_t step : {1, 2}) write_checkpoint(real_disk(), folder.path(), step);
  const fs::path older = folder.path() / folder_name(1);
  const fs::path newer = folder.path() / folder_name(2);
  for (const std::string name : {kManifestFile, "worker0.safetensors"})
    expect_skipped(folder.path(), newer / name, read_file(older / name));
}

TEST(CheckpointFolder, LinksAreNotFollowed) {
  const test::TemporaryFolder folder;
  const test::TemporaryFolder outside;
  for (const std::int64_t step : {1, 2, 3}) write_checkpoint(real_disk(), folder.path(), step);
  const fs::path file = folder.path() / folder_name(2) / "worker0.safetensors";
  fs::rename(file, outside.path() / "kept");
  fs::create_symlink(outside.path() / "kept", file);
  fs::rename(folder.path() / folder_name(3), outside.path() / "whole");
  fs::create_directory_symlink(outside.path() / "whole", folder.path() / folder_name(3));
  const Newest newest = newest_sound(folder.path());
  ASSERT_TRUE(newest.found.has_value());
  EXPECT_EQ(newest.found->step, 1);
  EXPECT_EQ(newest.skipped.size(), 2u);
  for (const Found& found : find_checkpoints(folder.path()))
    remove_checkpoint(real_disk(), found.path);
  EXPECT_TRUE(fs::exists(outside.path() / "kept"));
  EXPECT_TRUE(fs::exists(outside.path() / "whole" / kManifestFile));
}

// Of a later version of this program: its checksum is right.
TEST(CheckpointFolder, OfAnotherVersionIsPassedOverAndNotDamaged) {
  const test::TemporaryFolder folder;
  for (const std::int64_t step : {1, 2}) write_checkpoint(real_disk(), folder.path(), step);
  const fs::path file = folder.path() / folder_name(2) / kManifestFile;
  std::string text = read_file(file);
  const std::string version = "\"version\": 1";
  text.replace(text.find(version), version.size(), "\"version\": 2");
  const std::size_t end = text.rfind(",\n  \"checksum\": \"");
  Checksum sum;
  sum.add(std::string_view(text).substr(0, end));
  write_file_atomically(file,
                        text.substr(0, end) + ",\n  \"checksum\": \"" + sum.text() + "\"\n}\n");
  const Newest newest = newest_sound(folder.path());
  ASSERT_TRUE(newest.found.has_value());
  EXPECT_EQ(newest.found->step, 1);
  ASSERT_EQ(newest.skipped.size(), 1u);
  EXPECT_FALSE(newest.skipped[0].damage.is_for_good) << newest.skipped[0].damage.why;
  EXPECT_NE(newest.skipped[0].damage.why.find("this program reads version 1, found 2"),
            std::string::npos);
}

TEST(CheckpointFolder, UnfinishedOnesAreRemovedAndNothingElse) {
  const test::TemporaryFolder folder;
  write_checkpoint(real_disk(), folder.path(), 1);
  NewCheckpoint unfinished(real_disk(), folder.path(), 2);
  (void)unfinished.add("worker0.safetensors", std::array{std::string_view("half")});
  write_file_atomically(folder.path() / "notes.txt", "mine");
  write_file_atomically(folder.path() / temporary_name("token"), "");
  const test::TemporaryFolder outside;
  write_file_atomically(outside.path() / "kept", "");
  fs::create_directory_symlink(outside.path(), folder.path() / temporary_name("link"));
  EXPECT_EQ(newest_in(folder.path()), 1);
  remove_unfinished(real_disk(), folder.path());
  std::vector<std::string> left;
  for (const auto& entry : fs::directory_iterator(folder.path()))
    left.push_back(entry.path().filename());
  std::sort(left.begin(), left.end());
  EXPECT_EQ(left, (std::vector<std::string>{"notes.txt", "step-00000001"}));
  EXPECT_TRUE(fs::exists(outside.path() / "kept"));
}

}  // namespace
}  // namespace pipedream::checkpoint
