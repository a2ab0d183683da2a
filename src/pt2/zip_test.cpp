#include "pt2/zip.h"

#include <gtest/gtest.h>

#include "core/error.h"
#include "pt2/zip_testing.h"

namespace pipedream::pt2 {
namespace {

const std::vector<std::pair<std::string, std::string>> kFiles{
    {"net/models/model.json", "{}"}, {"net/data/weights/weight_0", "abcdefgh"}, {"net/empty", ""}};

TEST(Zip, EntriesAreFoundWithTheirContent) {
  for (const bool is_long : {false, true}) {
    const std::string file = make_zip(kFiles, is_long);
    const auto entries = parse_zip(file, "net.pt2");
    ASSERT_EQ(entries.size(), kFiles.size());
    for (std::size_t i = 0; i < entries.size(); ++i) {
      EXPECT_EQ(entries[i].name, kFiles[i].first);
      EXPECT_EQ(entries[i].content, kFiles[i].second);
      EXPECT_TRUE(is_sound(entries[i]));
    }
  }
}

TEST(Zip, MayHaveACommentAtItsEnd) {
  std::string file = make_zip(kFiles);
  const std::string comment = "PK\x05\x06 is no end here";
  file[file.size() - 2] = static_cast<char>(comment.size());
  EXPECT_EQ(parse_zip(file + comment, "net.pt2").size(), kFiles.size());
}

TEST(Zip, EveryTruncationIsRefused) {
  for (const bool is_long : {false, true}) {
    const std::string file = make_zip(kFiles, is_long);
    for (std::size_t length = 0; length < file.size(); ++length)
      EXPECT_THROW((void)parse_zip(std::string_view(file).substr(0, length), "net.pt2"), BadFile)
          << length;
  }
}

// Whatever byte is damaged: the file is refused, or the entries differ, or the damage is where
// nothing is read. A damaged content has another checksum.
TEST(Zip, EveryDamagedByteIsRefusedOrSeen) {
  const std::string file = make_zip(kFiles);
  const std::size_t content = file.find("abcdefgh");
  for (std::size_t place = 0; place < file.size(); ++place) {
    std::string damaged = file;
    damaged[place] = static_cast<char>(damaged[place] ^ 0x55);
    try {
      const auto entries = parse_zip(damaged, "net.pt2");
      for (const ZipEntry& entry : entries) EXPECT_LE(entry.content.size(), damaged.size());
      if (place >= content && place < content + 8) {
        EXPECT_FALSE(is_sound(entries[1])) << place;
      }
    } catch (const BadFile& error) {
      EXPECT_NE(std::string(error.what()).find("net.pt2: byte "), std::string::npos);
    }
  }
}

TEST(Zip, TwoEntriesOfOneNameAreRefused) {
  try {
    (void)parse_zip(make_zip({{"a", "1"}, {"a", "2"}}), "net.pt2");
    FAIL();
  } catch (const BadFile& error) {
    EXPECT_NE(std::string(error.what()).find("two entries 'a'"), std::string::npos) << error.what();
  }
}

TEST(Zip, CompressedEntriesAreRefused) {
  std::string file = make_zip(kFiles);
  file[file.find("PK\x01\x02") + 10] = 8;  // the method
  try {
    (void)parse_zip(file, "net.pt2");
    FAIL();
  } catch (const BadFile& error) {
    EXPECT_NE(std::string(error.what()).find("compressed"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace pipedream::pt2
