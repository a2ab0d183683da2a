#include "data/data_name.h"

#include <gtest/gtest.h>

#include "core/file.h"
#include "core/testing.h"

namespace pipedream::data {
namespace {

TEST(DataName, HasTheFilesBehindItsColon) {
  using Files = std::vector<std::filesystem::path>;
  EXPECT_EQ(files_of_data("safetensors:a,b/c"), (Files{"a", "b/c"}));
  EXPECT_EQ(files_of_data("text:a,b"), Files{"a,b"});
  EXPECT_EQ(files_of_data("pairs:a,b,c,d"), (Files{"a", "b", "c", "d"}));
  EXPECT_EQ(files_of_data("synthetic"), Files{});
  const auto in_there = [](const std::filesystem::path& file) { return "there" / file; };
  EXPECT_EQ(with_files("npy:a,b", in_there), "npy:there/a,there/b");
}

TEST(DataName, IsThatOfMovedFilesIfTheOldOnesAreGoneOrCopied) {
  const test::TemporaryFolder folder;
  const std::string old = "text:" + (folder.path() / "words").string();
  EXPECT_TRUE(was_moved(old, "text:/elsewhere/words"));
  EXPECT_FALSE(was_moved(old, "text:/elsewhere/others"));
  EXPECT_FALSE(was_moved(old, "idx:/elsewhere/words"));
  EXPECT_TRUE(was_moved("idx:/gone/digits/", "idx:/elsewhere/digits"));
  EXPECT_FALSE(was_moved("idx:/gone/digits/", "idx:/gone/letters/"));
  write_file_atomically(folder.path() / "words", "here");
  EXPECT_FALSE(was_moved(old, "text:/elsewhere/words"));
  std::filesystem::create_directory(folder.path() / "copy");
  const std::string copy = "text:" + (folder.path() / "copy" / "words").string();
  write_file_atomically(folder.path() / "copy" / "words", "here");
  EXPECT_TRUE(was_moved(old, copy));
  write_file_atomically(folder.path() / "copy" / "words", "there");
  EXPECT_FALSE(was_moved(old, copy)) << "it is another file";
}

}  // namespace
}  // namespace pipedream::data
