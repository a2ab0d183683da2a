#include "text/vocabulary_file.h"

#include <gtest/gtest.h>

#include "core/error.h"
#include "core/file.h"
#include "core/testing.h"

namespace pipedream::text {
namespace {

using test::message_of;

std::string file_with(const std::string& merges) {
  return R"({"format": "pipedream-vocabulary", "version": 1, "merges": [)" + merges + "]}";
}

std::string refusal_of(const std::string& content) {
  return message_of<BadFile>([&] { (void)parse_vocabulary(content, "v.json"); });
}

TEST(VocabularyFile, HasOneMergePerLine) {
  EXPECT_EQ(to_json(Vocabulary({{119, 107}, {259, 3}})),
            "{\n  \"format\": \"pipedream-vocabulary\",\n  \"version\": 1,\n  \"merges\": [\n"
            "    [119, 107],\n    [259, 3]\n  ]\n}\n");
  EXPECT_EQ(parse_vocabulary(to_json(Vocabulary()), "v.json"), Vocabulary());
}

TEST(VocabularyFile, IsTheExampleOfTheDocument) {
  const auto blocks = test::fenced_blocks(read_file(PD_SOURCE_DIR "/docs/formats.md"), "json");
  int found = 0;
  for (const std::string& block : blocks) {
    if (block.find("pipedream-vocabulary") == std::string::npos) continue;
    ++found;
    const Vocabulary vocabulary = parse_vocabulary(block, "docs/formats.md");
    EXPECT_EQ(to_json(vocabulary), block);
    EXPECT_EQ(vocabulary.decode(vocabulary.encode("the")), "the");
    EXPECT_EQ(vocabulary.encode("the"), std::vector<Token>{260});
  }
  EXPECT_EQ(found, 1);
}

TEST(VocabularyFile, NamesThePlaceOfABadMerge) {
  EXPECT_EQ(refusal_of(file_with("[100, 101], [259, 260]")),
            "v.json: merges[1][1]: wanted a whole number from 3 to 259, found 260");
  EXPECT_EQ(refusal_of(file_with("[2, 101]")),
            "v.json: merges[0][0]: wanted a whole number from 3 to 258, found 2");
  EXPECT_EQ(refusal_of(file_with("[100, 101], [100, 101]")),
            "v.json: merges[1]: these two tokens are merged already");
  EXPECT_EQ(refusal_of(file_with("[100]")),
            "v.json: merges[0]: wanted the numbers of two tokens, found 1");
}

TEST(VocabularyFile, RefusesTokensThatGrowWithoutEnd) {
  std::string merges = "[3, 3]";
  for (int i = 259; i < 270; ++i)
    merges += ", [" + std::to_string(i) + ", " + std::to_string(i) + "]";
  EXPECT_EQ(refusal_of(file_with(merges)),
            "v.json: merges[10]: the merge makes a token of 2048 bytes; wanted at most 1024");
}

TEST(VocabularyFile, RefusesWhatItDoesNotKnow) {
  EXPECT_NE(refusal_of(R"({"format": "pipedream-vocabulary", "version": 1, "merge": []})")
                .find("did you mean 'merges'?"),
            std::string::npos);
  EXPECT_NE(refusal_of(R"({"format": "pipedream-plan", "version": 1, "merges": []})")
                .find("pipedream-vocabulary"),
            std::string::npos);
}

}  // namespace
}  // namespace pipedream::text
