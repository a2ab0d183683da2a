// PNG files of all kinds, and damaged ones.
#include <gtest/gtest.h>
#include <png.h>

#include "core/error.h"
#include "core/testing.h"
#include "image/decode.h"
#include "image/png_testing.h"

namespace pipedream::image {
namespace {

using Pixels = std::vector<std::uint8_t>;
using test::message_of;

Pixels pixels_of(const PngContent& content) { return decode(png_file(content), "a.png").pixels; }

std::string bytes_of(const Pixels& numbers) { return {numbers.begin(), numbers.end()}; }

std::string some_png() {
  return png_file(
      {.rows = 2, .columns = 2, .bytes = bytes_of({1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12})});
}

TEST(Png, GivesBackItsPixelsRowByRow) {
  const Picture picture = decode(
      png_file({.rows = 1, .columns = 2, .bytes = bytes_of({255, 0, 1, 2, 3, 254})}), "a.png");
  EXPECT_EQ(picture, (Picture{1, 2, {255, 0, 1, 2, 3, 254}}));
}

TEST(Png, OfGreyBecomesThreeEqualChannels) {
  EXPECT_EQ(pixels_of({.rows = 1, .columns = 2, .bytes = bytes_of({7, 200}), .colours = kPngGrey}),
            (Pixels{7, 7, 7, 200, 200, 200}));
  const std::string bits = bytes_of({0b10000000});  // white, black
  EXPECT_EQ(pixels_of({.rows = 1, .columns = 2, .bytes = bits, .colours = kPngGrey, .depth = 1}),
            (Pixels{255, 255, 255, 0, 0, 0}));
}

TEST(Png, LosesItsTransparencyAndKeepsItsColours) {
  EXPECT_EQ(
      pixels_of({.rows = 1, .columns = 1, .bytes = bytes_of({9, 8, 7, 0}), .colours = kPngRgba}),
      (Pixels{9, 8, 7}));
  EXPECT_EQ(
      pixels_of({.rows = 1, .columns = 1, .bytes = bytes_of({9, 0}), .colours = kPngGreyAlpha}),
      (Pixels{9, 9, 9}));
  EXPECT_EQ(pixels_of({.rows = 1,
                       .columns = 1,
                       .bytes = bytes_of({9, 8, 7}),
                       .between = png_chunk("tRNS", bytes_of({0, 9, 0, 8, 0, 7}))}),
            (Pixels{9, 8, 7}));
}

TEST(Png, OfAPaletteHasThePalettesColours) {
  const std::string palette = png_chunk("PLTE", bytes_of({1, 2, 3, 40, 50, 60}));
  const std::string transparent = png_chunk("tRNS", bytes_of({0}));
  for (const std::string& between : {palette, palette + transparent})
    EXPECT_EQ(pixels_of({.rows = 1,
                         .columns = 2,
                         .bytes = bytes_of({0b00010000}),
                         .colours = kPngPalette,
                         .depth = 4,
                         .between = between}),
              (Pixels{40, 50, 60, 1, 2, 3}));
}

TEST(Png, Of16BitsIsRoundedTo8) {
  const std::string bytes = bytes_of({0, 200, 1, 1, 255, 255});  // 200, 257 and 65535 of 65535
  EXPECT_EQ(pixels_of({.rows = 1, .columns = 1, .bytes = bytes, .depth = 16}), (Pixels{1, 1, 255}));
}

TEST(Png, KeepsItsNumbersWhateverItSaysAboutGamma) {
  const std::string gamma = png_chunk("gAMA", bytes_of({0, 1, 134, 160}));  // 1.0
  EXPECT_EQ(pixels_of({.rows = 1, .columns = 1, .bytes = bytes_of({9, 8, 7}), .between = gamma}),
            (Pixels{9, 8, 7}));
}

// Writes an interlaced file by libpng.
std::string interlaced(std::uint32_t side, const Pixels& pixels) {
  png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, nullptr, nullptr, nullptr);
  png_infop info = png_create_info_struct(png);
  std::string file;
  png_set_write_fn(
      png, &file,
      [](png_structp writer, png_bytep bytes, std::size_t count) {
        static_cast<std::string*>(png_get_io_ptr(writer))
            ->append(reinterpret_cast<const char*>(bytes), count);
      },
      nullptr);
  png_set_IHDR(png, info, side, side, 8, PNG_COLOR_TYPE_RGB, PNG_INTERLACE_ADAM7,
               PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
  png_write_info(png, info);
  for (int pass = png_set_interlace_handling(png); pass > 0; --pass)
    for (std::size_t row = 0; row < side; ++row) png_write_row(png, &pixels[row * side * 3]);
  png_write_end(png, nullptr);
  png_destroy_write_struct(&png, &info);
  return file;
}

TEST(Png, MayBeInterlaced) {
  constexpr std::uint32_t kSide = 11;
  Pixels pixels(kSide * kSide * 3);
  for (std::size_t i = 0; i < pixels.size(); ++i) pixels[i] = static_cast<std::uint8_t>(i * 37);
  EXPECT_EQ(decode(interlaced(kSide, pixels), "a.png"), (Picture{kSide, kSide, pixels}));
}

TEST(Png, ThatIsCutOffAnywhereIsRefusedWithItsNameAndLength) {
  const std::string file = some_png();
  for (std::size_t size = kPngSignature.size(); size < file.size(); ++size)
    EXPECT_EQ(message_of<BadFile>([&] { (void)decode(file.substr(0, size), "x/a.png"); }),
              "x/a.png: byte " + std::to_string(size) + ": the PNG is damaged: it is cut off");
}

TEST(Png, WithAFlippedBitInItsPixelsIsRefused) {
  std::string file = some_png();
  const std::size_t pixels = file.find("IDAT") + 8;
  file[pixels] = static_cast<char>(file[pixels] ^ 1);
  const std::string message = message_of<BadFile>([&] { (void)decode(file, "a.png"); });
  EXPECT_TRUE(message.starts_with("a.png: byte ")) << message;
}

TEST(Png, WithTooManyPixelsIsRefusedBeforeTheyAreRead) {
  std::string file = some_png();
  const std::string huge = big_endian(1'000'000) + big_endian(900'000);
  file = std::string(kPngSignature) + png_chunk("IHDR", huge + std::string{8, kPngRgb, 0, 0, 0}) +
         file.substr(33);
  EXPECT_EQ(message_of<BadFile>([&] { (void)decode(file, "a.png"); }),
            "a.png: wanted at most 100000000 pixels, found 1000000 x 900000");
  EXPECT_EQ(message_of<BadFile>([&] { (void)decode(some_png(), "a.png", 3); }),
            "a.png: wanted at most 3 pixels, found 2 x 2");
}

}  // namespace
}  // namespace pipedream::image
