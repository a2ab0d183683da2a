#include "core/safetensors.h"

#include <cstring>

#include <gtest/gtest.h>

#include "core/error.h"
#include "core/testing.h"

namespace pipedream {
namespace {

std::string with_length(const std::string& json) {
  const std::uint64_t length = json.size();
  std::string head(8, '\0');
  std::memcpy(head.data(), &length, 8);
  return head + json;
}

// Returns the message with which a file is refused that has the head `json`, followed by `data`
// bytes.
std::string refusal(const std::string& json, std::uint64_t data) {
  const std::string head = with_length(json);
  return test::message_of<BadFile>(
      [&] { (void)parse_safetensors_head(head, head.size() + data, "w.safetensors"); });
}

TEST(Safetensors, ReadsBackTheHeadItMade) {
  const std::string head =
      make_safetensors_head({{"b", "F32", {2, 3}, 0, 0}, {"a", "I64", {}, 0, 0}});
  const SafetensorsHead read = parse_safetensors_head(head, head.size() + 32, "w");
  EXPECT_EQ(read.size, head.size());
  EXPECT_EQ(head.size() % 8, 0u);
  const std::vector<SafetensorsEntry> expected{{"b", "F32", {2, 3}, 0, 24},
                                               {"a", "I64", {}, 24, 32}};
  EXPECT_EQ(read.entries, expected);
}

TEST(Safetensors, SkipsTheMetadata) {
  const std::string head = with_length(R"({"__metadata__":{"format":"pt"}})");
  EXPECT_TRUE(parse_safetensors_head(head, head.size(), "w").entries.empty());
}

TEST(Safetensors, RefusesAHeadLongerThanTheFile) {
  std::string head(8, '\xff');
  EXPECT_THROW((void)parse_safetensors_head(head, head.size(), "w"), BadFile);
  EXPECT_THROW((void)parse_safetensors_head("1234567", 7, "w"), BadFile);
}

TEST(Safetensors, RefusesOverlapsGapsAndBytesLeftOver) {
  EXPECT_EQ(refusal(R"({"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]},)"
                    R"("b":{"dtype":"U8","shape":[4],"data_offsets":[2,6]}})",
                    6),
            "w.safetensors: the data of b begin at 2, not at 4 where the last ended");
  EXPECT_EQ(refusal(R"({"a":{"dtype":"U8","shape":[4],"data_offsets":[1,5]}})", 5),
            "w.safetensors: the data of a begin at 1, not at 0 where the last ended");
  EXPECT_EQ(refusal(R"({"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]}})", 5),
            "w.safetensors: wanted 4 bytes of data, found 5");
}

TEST(Safetensors, SaysHowMuchOfAFileIsThere) {
  EXPECT_EQ(refusal(R"({"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]}})", 3),
            "w.safetensors: is cut off: its tensors take 4 bytes, and 3 of them are there");
}

TEST(Safetensors, RefusesSizesThatOverflowOrDoNotFit) {
  EXPECT_EQ(refusal(R"({"a":{"dtype":"F64","shape":[4503599627370496,4503599627370496],)"
                    R"("data_offsets":[0,0]}})",
                    0),
            "w.safetensors: a.shape: the tensor is larger than any file");
  EXPECT_EQ(refusal(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,4]}})", 4),
            "w.safetensors: a.data_offsets: wanted 8 bytes for this shape, found 4");
  EXPECT_EQ(refusal(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,8]}})", 8),
            "w.safetensors: a.data_offsets: wanted 4 bytes for this shape, found 8");
}

TEST(Safetensors, RefusesUnknownTypesAndKeys) {
  EXPECT_EQ(refusal(R"({"a":{"dtype":"F31","shape":[],"data_offsets":[0,0]}})", 0),
            "w.safetensors: a.dtype: wanted a type such as \"F32\", found \"F31\"");
  EXPECT_EQ(refusal(R"({"a":{"dtyp":"F32","shape":[],"data_offsets":[0,4]}})", 4),
            "w.safetensors: a.dtyp: unknown key (did you mean 'dtype'?)");
}

}  // namespace
}  // namespace pipedream
