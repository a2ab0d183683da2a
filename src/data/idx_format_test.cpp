#include "data/idx_format.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include "core/error.h"
#include "core/testing.h"
#include "data/gzip.h"
#include "data/idx_testing.h"

namespace pipedream::data {
namespace {

using test::message_of;

const IdxArray kImages{{2, 1, 3}, "abcdef"};

std::string packed(const std::string& content) {
  z_stream stream{};
  if (::deflateInit2(&stream, 9, Z_DEFLATED, MAX_WBITS + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK)
    throw std::bad_alloc();
  std::string out(::deflateBound(&stream, content.size()), '\0');
  std::string in = content;
  stream.next_in = reinterpret_cast<Bytef*>(in.data());
  stream.avail_in = static_cast<uInt>(in.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(::deflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(stream.total_out);
  ::deflateEnd(&stream);
  return out;
}

std::string refusal(const std::string& content) {
  return message_of<BadFile>([&] { (void)parse_idx(content, "f"); });
}

TEST(IdxFormat, ReadsPlainAndPackedAlike) {
  EXPECT_EQ(parse_idx(idx_file(kImages), "f"), kImages);
  EXPECT_EQ(parse_idx(packed(idx_file(kImages)), "f"), kImages);
}

TEST(IdxFormat, RefusesAnotherKindOfFile) {
  EXPECT_EQ(refusal(""),
            "f: byte 0: the file ends before the 4 bytes that every IDX file begins "
            "with");
  EXPECT_EQ(refusal("\x89PNG...."),
            "f: byte 0: an IDX file begins with two zeros: this is another kind of file");
  std::string floats = idx_file(kImages);
  floats[2] = 0x0D;
  EXPECT_EQ(refusal(floats),
            "f: byte 2: wanted elements of type 8 (unsigned bytes), found type 13");
  EXPECT_EQ(refusal(idx_file({{1, 1, 1, 1}, "a"})), "f: byte 3: wanted 1 to 3 dimensions, found 4");
}

TEST(IdxFormat, RefusesFewerOrMoreBytesThanTheHeadSays) {
  const std::string file = idx_file(kImages);
  EXPECT_EQ(refusal(file.substr(0, 10)), "f: byte 10: the file ends within its 3 sizes");
  const std::string fewer = "f: byte 16: wanted 6 bytes of data by the sizes before, found 5";
  const std::string more = "f: byte 16: wanted 6 bytes of data by the sizes before, found more";
  EXPECT_EQ(refusal(file.substr(0, file.size() - 1)), fewer);
  EXPECT_EQ(refusal(file + "x"), more);
  EXPECT_EQ(refusal(packed(file.substr(0, file.size() - 1))), fewer);
  EXPECT_EQ(refusal(packed(file + "x")), more);
}

TEST(IdxFormat, RefusesSizesWhoseProductOverflows) {
  EXPECT_EQ(refusal(idx_file({{0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF}, ""})),
            "f: byte 8: more than 4 GiB of data");
}

TEST(IdxFormat, UnpacksNoMoreThanTheHeadSays) {
  std::string bomb = idx_file({{1}, ""});
  bomb.resize(1 << 24);
  EXPECT_EQ(refusal(packed(bomb)),
            "f: byte 8: wanted 1 bytes of data by the sizes before, found more");
  EXPECT_EQ(unpack_gzip(packed(bomb), 100, "f").size(), 100U);
}

TEST(IdxFormat, RefusesPackedDataThatIsDamagedCutShortOrFollowedByMore) {
  const std::string good = packed(idx_file(kImages));
  EXPECT_NE(refusal(good.substr(0, good.size() - 4)).find("cut short"), std::string::npos);
  EXPECT_NE(refusal(good + "x").find("more after the end"), std::string::npos);
  std::string bad = good;
  bad[bad.size() - 6] = static_cast<char>(bad[bad.size() - 6] ^ 1);  // a byte of the checksum
  EXPECT_NE(refusal(bad).find("damaged"), std::string::npos);
}

}  // namespace
}  // namespace pipedream::data
