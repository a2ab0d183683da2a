#include "data/class_folders.h"

#include <algorithm>
#include <map>

#include <gtest/gtest.h>

#include "core/error.h"
#include "core/file.h"
#include "core/testing.h"

namespace pipedream::data {
namespace {

using test::message_of;
using test::TemporaryFolder;
using Names = std::vector<std::string>;
using Labels = std::vector<std::int64_t>;

void touch(const std::filesystem::path& path) {
  std::filesystem::create_directories(path.parent_path());
  write_file_atomically(path, "x");
}

TEST(ClassFolders, AreSortedByNameWithTheirPicturesBelowThem) {
  const TemporaryFolder folder;
  for (const char* name : {"cat/b.png", "cat/a.JPEG", "ant/deep/er/c.jpg", "ant/notes.txt",
                           "ant/.hidden.png", ".git/x.png", "read.me"})
    touch(folder.path() / name);
  const ClassFolders found = read_class_folders(folder.path());
  EXPECT_EQ(found.classes, (Names{"ant", "cat"}));
  EXPECT_EQ(found.training.names, (Names{"ant/deep/er/c.jpg", "cat/a.JPEG", "cat/b.png"}));
  EXPECT_EQ(found.training.labels, (Labels{0, 1, 1}));
  EXPECT_EQ(found.training.path(1), folder.path() / "cat/a.JPEG");
  EXPECT_FALSE(found.held_out.has_value());
}

TEST(ClassFolders, MayBeDividedIntoTrainAndValOrTest) {
  for (const char* held_out : {"val", "test"}) {
    const TemporaryFolder folder;
    for (const char* set : {"train", held_out})
      for (const char* name : {"ant", "bee"}) touch(folder.path() / set / name / "1.png");
    const ClassFolders found = read_class_folders(folder.path());
    EXPECT_EQ(found.classes, (Names{"ant", "bee"}));
    ASSERT_TRUE(found.held_out.has_value());
    EXPECT_EQ(found.held_out->path(0), folder.path() / held_out / "ant/1.png");
  }
}

TEST(ClassFolders, NameTheClassThatOnlyOneSetHas) {
  const TemporaryFolder folder;
  for (const char* name : {"train/ant/1.png", "train/bee/1.png", "val/ant/1.png"})
    touch(folder.path() / name);
  const auto read = [&] { (void)read_class_folders(folder.path()); };
  EXPECT_EQ(message_of<BadFile>(read), (folder.path() / "val").string() +
                                           ": wanted the same classes in both sets, found no "
                                           "folder 'bee' here");
  touch(folder.path() / "val/bee/1.png");
  touch(folder.path() / "val/cat/1.png");
  EXPECT_EQ(message_of<BadFile>(read), (folder.path() / "train").string() +
                                           ": wanted the same classes in both sets, found no "
                                           "folder 'cat' here");
}

TEST(ClassFolders, WithoutClassesOrPicturesAreRefused) {
  const TemporaryFolder folder;
  const auto read = [&] { (void)read_class_folders(folder.path()); };
  touch(folder.path() / "ant/1.png");
  EXPECT_NE(message_of<BadFile>(read).find("two or more classes, found 1 folder"),
            std::string::npos);
  touch(folder.path() / "bee/1.bmp");
  EXPECT_EQ(message_of<BadFile>(read),
            (folder.path() / "bee").string() +
                ": wanted files that end with .png, .jpg or .jpeg for this class, found none");
  EXPECT_EQ(message_of<IoError>([&] { (void)read_class_folders(folder.path() / "no"); }),
            (folder.path() / "no").string() + ": No such file or directory");
}

TEST(HoldOut, TakesItsShareOfEveryClassAndNeverTheSameAsItTrainsOn) {
  LabelledFiles files{"f"};
  const std::map<std::int64_t, std::int64_t> sizes{{0, 40}, {1, 20}, {2, 10}};
  for (const auto& [label, size] : sizes)
    for (std::int64_t i = 0; i < size; ++i) {
      files.names.push_back(std::to_string(label) + "/" + std::to_string(100 + i));
      files.labels.push_back(label);
    }
  const DividedFiles divided = hold_out(files, 14);
  EXPECT_EQ(divided.held_out.count(), 14);
  EXPECT_EQ(divided.training.count(), 56);
  for (const auto& [label, size] : sizes)
    EXPECT_EQ(std::count(divided.held_out.labels.begin(), divided.held_out.labels.end(), label),
              size / 5);
  Names all = divided.training.names;
  all.insert(all.end(), divided.held_out.names.begin(), divided.held_out.names.end());
  std::sort(all.begin(), all.end());
  EXPECT_EQ(all, files.names);
  const Names last(files.names.end() - 2, files.names.end());
  EXPECT_NE(Names(divided.held_out.names.end() - 2, divided.held_out.names.end()), last)
      << "files that were taken one after the other are often alike";
}

}  // namespace
}  // namespace pipedream::data
