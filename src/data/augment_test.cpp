#include "data/augment.h"

#include <set>
#include <vector>

#include <gtest/gtest.h>

#include "core/error.h"
#include "core/testing.h"

namespace pipedream::data {
namespace {

using test::message_of;
using Bytes = std::vector<std::uint8_t>;

Augmenter augmenter(const std::string& text, std::uint64_t seed = 0) {
  return {parse_augmentation(text), seed};
}

std::string refused_change(const std::string& text) {
  return message_of<BadUsage>([&] { (void)parse_augmentation(text); });
}

TEST(Augment, ReadsAListOfChanges) {
  EXPECT_TRUE(parse_augmentation("").is_none());
  const Augmentation both = parse_augmentation("crop:4,flip");
  EXPECT_TRUE(both.flips);
  EXPECT_EQ(both.padding, 4);
  EXPECT_EQ(parse_augmentation("resized-crop").smallest_area, 0.08);
  EXPECT_EQ(parse_augmentation("resized-crop:0.5").smallest_area, 0.5);
}

TEST(Augment, RefusesWhatMakesNoSenseAndNamesTheNearestChange) {
  EXPECT_EQ(refused_change("flipp"),
            "`augment`: there is no change 'flipp' (did you mean 'flip'?)");
  EXPECT_EQ(refused_change("flip:2"),
            "`augment`: there is no change 'flip:2' (flip takes no number)");
  EXPECT_EQ(refused_change("flip,flip"), "`augment` names flip twice");
  EXPECT_EQ(refused_change("crop:2,resized-crop"),
            "`augment`: crop and resized-crop both choose a part of the picture: leave one of them "
            "out");
  for (const char* text : {"crop", "crop:0", "crop:x", "crop:-1", "crop:2x"})
    EXPECT_NE(refused_change(text).find("crop:P, P pixels of padding"), std::string::npos) << text;
  for (const char* text :
       {"resized-crop:0", "resized-crop:1.5", "resized-crop:", "resized-crop:nan"})
    EXPECT_NE(refused_change(text).find("a share of the area"), std::string::npos) << text;
  EXPECT_NE(refused_change("flip,").find("there is no change ''"), std::string::npos);
}

TEST(Augment, ChangesAboutHalfOfThePicturesByAFlip) {
  int mirrored = 0;
  for (int sample = 0; sample < 1000; ++sample)
    mirrored += augmenter("flip").change_of(0, sample, 4, 4).mirrored ? 1 : 0;
  EXPECT_GT(mirrored, 440);
  EXPECT_LT(mirrored, 560);
}

TEST(Augment, DrawsAnewForEachSampleEpochAndSeed) {
  std::set<std::int64_t> places;
  const auto place = [](std::int64_t epoch, std::int64_t sample, std::uint64_t seed) {
    const Window window = augmenter("crop:1000", seed).change_of(epoch, sample, 4, 4).window;
    return window.top * 10'000 + window.left;
  };
  for (const std::int64_t epoch : {0, 1})
    for (const std::int64_t sample : {0, 1})
      for (const std::uint64_t seed : {0, 1}) {
        places.insert(place(epoch, sample, seed));
        EXPECT_EQ(place(epoch, sample, seed), place(epoch, sample, seed));
      }
  EXPECT_EQ(places.size(), 8U);
}

TEST(Augment, CropsAtEveryPlaceThatThePaddingAllows) {
  std::set<std::pair<std::int64_t, std::int64_t>> places;
  for (int sample = 0; sample < 400; ++sample) {
    const Window window = augmenter("crop:1").change_of(3, sample, 5, 7).window;
    EXPECT_EQ(window.rows, 5);
    EXPECT_EQ(window.columns, 7);
    places.emplace(window.top, window.left);
  }
  EXPECT_EQ(places.size(), 9U);
  EXPECT_EQ(*places.begin(), std::pair(std::int64_t{-1}, std::int64_t{-1}));
  EXPECT_EQ(*places.rbegin(), std::pair(std::int64_t{1}, std::int64_t{1}));
}

TEST(Augment, OfAThinPictureCutsTheMiddle) {
  const Window window = augmenter("resized-crop:1").change_of(0, 0, 3, 300).window;
  EXPECT_EQ(window, (Window{.top = 0, .left = 148, .rows = 3, .columns = 4}));
}

// Two channels of 2 x 3 pixels, stored pixel by pixel.
Bytes changed(const Change& change) {
  const Bytes bytes{1, 11, 2, 12, 3, 13,  //
                    4, 14, 5, 15, 6, 16};
  Bytes out(static_cast<std::size_t>(2 * change.window.rows * change.window.columns));
  write_changed({.first = bytes.data(),
                 .channels = 2,
                 .rows = 2,
                 .columns = 3,
                 .channel_step = 1,
                 .row_step = 6,
                 .column_step = 2},
                change, out.data());
  return out;
}

TEST(WriteChanged, KeepsAPictureThatIsNotChanged) {
  EXPECT_EQ(changed(unchanged(2, 3)), (Bytes{1, 2, 3, 4, 5, 6, 11, 12, 13, 14, 15, 16}));
}

TEST(WriteChanged, MirrorsLeftAndRight) {
  Change change = unchanged(2, 3);
  change.mirrored = true;
  EXPECT_EQ(changed(change), (Bytes{3, 2, 1, 6, 5, 4, 13, 12, 11, 16, 15, 14}));
}

TEST(WriteChanged, IsBlackOutsideOfThePicture) {
  EXPECT_EQ(changed({.window = {.top = -1, .left = 1, .rows = 2, .columns = 3}}),
            (Bytes{0, 0, 0, 2, 3, 0, 0, 0, 0, 12, 13, 0}));
  EXPECT_EQ(changed({.window = {.top = 1, .left = -2, .rows = 2, .columns = 3}, .mirrored = true}),
            (Bytes{4, 0, 0, 0, 0, 0, 14, 0, 0, 0, 0, 0}));
}

}  // namespace
}  // namespace pipedream::data
