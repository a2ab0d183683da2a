#include "train/event_records.h"

#include <gtest/gtest.h>

#include "core/text.h"

namespace pipedream::train {
namespace {

// The examples of RFC 3720, B.4.
TEST(Crc32c, IsThatOfTheStandard) {
  EXPECT_EQ(crc32c(std::string(32, '\0')), 0x8a9136aau);
  EXPECT_EQ(crc32c(std::string(32, '\xff')), 0x62a8ab43u);
  EXPECT_EQ(crc32c("123456789"), 0xe3069283u);
}

// Made by PyPI's tensorboard 2.21: RecordWriter and Event(...).SerializeToString().
TEST(EventRecords, AreThoseOfTensorBoard) {
  EXPECT_EQ(to_hex(version_event(1.5)), "09000000000000f83f1a0d627261696e2e4576656e743a32");
  EXPECT_EQ(to_hex(scalars_event(1.5, 300, {{"loss", 0.25}, {"a", 2}})),
            "09000000000000f83f10ac022a170a0b0a046c6f7373150000803e0a080a01611500000040");
}

TEST(EventRecords, HaveTheirLengthAndChecksums) {
  EXPECT_EQ(to_hex(framed("123456789")), "090000000000000037f97139313233343536373839e5b08ac7");
}

}  // namespace
}  // namespace pipedream::train
