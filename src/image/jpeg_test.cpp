// JPEG files of all kinds, and damaged ones.
#include <cstdlib>

#include <gtest/gtest.h>

#include "core/error.h"
#include "core/testing.h"
#include "image/decode.h"
#include "image/jpeg_testing.h"

namespace pipedream::image {
namespace {

using test::message_of;

constexpr unsigned kJpegSide = 24;

// A picture whose colours change slowly, so that JPEG changes them little.
std::string gradient(int channels) {
  std::string bytes;
  for (unsigned row = 0; row < kJpegSide; ++row)
    for (unsigned column = 0; column < kJpegSide; ++column)
      for (int c = 0; c < channels; ++c)
        bytes +=
            static_cast<char>(40 + 5 * (c == 0 ? row : column) + 10 * static_cast<unsigned>(c));
  return bytes;
}

std::string some_jpeg(bool progressive = false) {
  return jpeg_file(
      {.rows = kJpegSide, .columns = kJpegSide, .bytes = gradient(3), .progressive = progressive});
}

// The largest difference between a pixel of the picture and its byte in `wanted`.
int farthest(const Picture& picture, const std::string& wanted) {
  int most = 0;
  EXPECT_EQ(picture.pixels.size(), wanted.size());
  for (std::size_t i = 0; i < wanted.size(); ++i)
    most = std::max(most, std::abs(picture.pixels[i] - static_cast<std::uint8_t>(wanted[i])));
  return most;
}

TEST(Jpeg, GivesBackItsPixels) {
  for (const bool progressive : {false, true}) {
    const Picture picture = decode(some_jpeg(progressive), "a.jpg");
    EXPECT_EQ(picture.rows, kJpegSide);
    EXPECT_EQ(picture.columns, kJpegSide);
    EXPECT_LE(farthest(picture, gradient(3)), 6);
  }
}

TEST(Jpeg, OfGreyBecomesThreeEqualChannels) {
  const std::string grey = gradient(1);
  const Picture picture = decode(jpeg_file({.rows = kJpegSide,
                                            .columns = kJpegSide,
                                            .bytes = grey,
                                            .colours = JCS_GRAYSCALE,
                                            .channels = 1}),
                                 "a.jpg");
  std::string wanted;
  for (const char value : grey) wanted += std::string(3, value);
  EXPECT_LE(farthest(picture, wanted), 4);
}

// libjpeg marks files in CMYK as Adobe's, in which 255 is no ink.
TEST(Jpeg, OfInksBecomesColours) {
  const std::string inks(kJpegSide * kJpegSide, '\0');
  std::string bytes;
  std::string wanted;
  for (std::size_t i = 0; i < inks.size(); ++i) {
    bytes += "\xff\x80\x40\x80";
    wanted += "\x80\x40\x20";
  }
  EXPECT_LE(farthest(decode(jpeg_file({.rows = kJpegSide,
                                       .columns = kJpegSide,
                                       .bytes = bytes,
                                       .colours = JCS_CMYK,
                                       .channels = 4}),
                            "a.jpg"),
                     wanted),
            4);
}

TEST(Jpeg, ThatIsCutOffAnywhereIsRefused) {
  for (const bool progressive : {false, true}) {
    const std::string file = some_jpeg(progressive);
    for (std::size_t size = 3; size + 2 < file.size(); ++size) {
      const std::string message =
          message_of<BadFile>([&] { (void)decode(file.substr(0, size), "x/a.jpg"); });
      EXPECT_TRUE(message.starts_with("x/a.jpg: byte ")) << size << ": " << message;
    }
    EXPECT_EQ(
        message_of<BadFile>([&] { (void)decode(file.substr(0, file.size() - 9), "a.jpg"); }),
        "a.jpg: byte " + std::to_string(file.size() - 9) + ": the JPEG is damaged: it is cut off");
  }
}

TEST(Jpeg, WithOtherPixelsThanItsCodesCanMeanIsRefused) {
  std::string file = some_jpeg();
  for (std::size_t i = file.size() / 2 + 80; i < file.size() - 2; ++i) file[i] = '\x7f';
  EXPECT_TRUE(
      message_of<BadFile>([&] { (void)decode(file, "a.jpg"); }).starts_with("a.jpg: byte "));
}

TEST(Jpeg, MayHaveBytesThatBelongToNothingBetweenItsParts) {
  const std::string file = some_jpeg();
  const std::string end = "\xff\xd9";
  EXPECT_EQ(decode(file.substr(0, file.size() - 2) + "abc" + end, "a.jpg"), decode(file, "a.jpg"));
}

TEST(Jpeg, WithTooManyPixelsIsRefused) {
  EXPECT_EQ(
      message_of<BadFile>([&] { (void)decode(some_jpeg(), "a.jpg", kJpegSide * kJpegSide - 1); }),
      "a.jpg: wanted at most 575 pixels, found 24 x 24");
}

TEST(Decode, GoesByTheFirstBytesAndNotByTheName) {
  EXPECT_EQ(decode(some_jpeg(), "a.png"), decode(some_jpeg(), "a.jpg"));
  EXPECT_EQ(message_of<BadFile>([] { (void)decode("GIF89a", "a.jpg"); }),
            "a.jpg: byte 0: wanted a PNG or a JPEG file, found other content");
  EXPECT_EQ(message_of<BadFile>([] { (void)decode("", "a.jpg"); }),
            "a.jpg: byte 0: wanted a PNG or a JPEG file, found an empty file");
}

}  // namespace
}  // namespace pipedream::image
