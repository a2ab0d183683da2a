#include "data/image_folder.h"

#include <gtest/gtest.h>

#include <ATen/ops/cat.h>

#include "core/error.h"
#include "core/testing.h"
#include "data/image_folder_testing.h"
#include "data/image_loader.h"
#include "data/networks_testing.h"
#include "image/decode.h"

namespace pipedream::data {
namespace {

using test::message_of;
using test::TemporaryFolder;
using Samples = std::vector<std::int64_t>;

class ImageFolderTest : public testing::Test {
 protected:
  void SetUp() override {
    if (image::can_decode()) return;
    EXPECT_NE(message_of<CannotMeet>([&] { (void)open(); }).find("libpng-dev"), std::string::npos);
    GTEST_SKIP();
  }

  [[nodiscard]] Data open(const DataOptions& options = {}) const {
    return open_data("images:" + folder.path().string(), network, options);
  }
  [[nodiscard]] const model::InputSpec& image() const { return input_of(network, "image"); }
  [[nodiscard]] const model::InputSpec& labels() const { return input_of(network, "labels"); }

  TemporaryFolder folder;
  model::Network network = small_network("vgg16", {{"image-size", "32"}, {"classes", "3"}});
};

TEST_F(ImageFolderTest, GivesNormalisedPicturesAndTheirLabels) {
  write_three_classes(folder.path(), 10);
  const Data data = open();
  EXPECT_EQ(data.training->samples(), 27);
  EXPECT_EQ(data.held_out->samples(), 3);
  const Samples samples{26, 0};
  const at::Tensor found = data.training->load(labels(), samples);
  EXPECT_EQ(found[0].item<std::int64_t>(), 2);
  EXPECT_EQ(found[1].item<std::int64_t>(), 0);
  const at::Tensor pictures = data.training->load(image(), samples);
  ASSERT_EQ(pictures.sizes(), (model::Shape{2, 3, 32, 32}));
  EXPECT_NEAR(pictures[1][1][31][0].item<float>(), (10.0 / 255 - 0.456) / 0.224, 1e-6);
  EXPECT_NEAR(pictures[1][0][0][31].item<float>(), (120.0 / 255 - 0.485) / 0.229, 0.4);
  EXPECT_EQ(data.facts.at("classes"), R"(["ant","bee","cat"])");
  EXPECT_EQ(data.facts.at("mean"), "0.485, 0.456, 0.406");
  EXPECT_EQ(data.facts.at("resize"),
            "bilinear with antialiasing, to cover 32 x 32; the middle is used");
}

TEST_F(ImageFolderTest, GivesTheSameBitsForAnyCutAndOrderOfABatch) {
  write_three_classes(folder.path(), 8);
  for (const char* augment : {"", "flip,crop:3", "flip,resized-crop"}) {
    const Data data = open({.seed = 5, .pictures = {.augment = augment}});
    const at::Tensor all = data.training->load_for_epoch(2, image(), Samples{3, 1, 7, 12});
    const at::Tensor cut = at::cat({data.training->load_for_epoch(2, image(), Samples{3}),
                                    data.training->load_for_epoch(2, image(), Samples{1, 7}),
                                    data.training->load_for_epoch(2, image(), Samples{12})});
    EXPECT_TRUE(all.equal(cut)) << augment;
    const at::Tensor turned = data.training->load_for_epoch(2, image(), Samples{12, 7, 1, 3});
    EXPECT_TRUE(all.equal(turned.flip({0}))) << augment;
    const at::Tensor other = data.training->load_for_epoch(3, image(), Samples{3, 1, 7, 12});
    EXPECT_EQ(all.equal(other), *augment == '\0') << augment;
  }
}

TEST_F(ImageFolderTest, IsNeverChangedForAnEvaluation) {
  write_three_classes(folder.path(), 20);
  const Data plain = open();
  const Data changed = open({.pictures = {.augment = "flip,crop:3"}});
  const Samples some{0, 1, 2, 3};
  EXPECT_TRUE(plain.held_out->load(image(), some)
                  .equal(changed.held_out->load_for_epoch(4, image(), some)));
  EXPECT_TRUE(plain.training->load(image(), some).equal(changed.training->load(image(), some)));
}

TEST_F(ImageFolderTest, HoldsOutTheSameFilesWhateverTheSeed) {
  write_three_classes(folder.path(), 10);
  const Samples all{0, 1, 2};
  const Data one = open({.seed = 1});
  const Data two = open({.seed = 2});
  EXPECT_TRUE(one.held_out->load(image(), all).equal(two.held_out->load(image(), all)));
  const at::Tensor found = one.held_out->load(labels(), all);
  for (std::int64_t i = 0; i < 3; ++i) EXPECT_EQ(found[i].item<std::int64_t>(), i);
}

TEST_F(ImageFolderTest, LoadsLabelsWithoutReadingPictures) {
  write_three_classes(folder.path(), 4);
  const Data data = open();
  std::filesystem::remove_all(folder.path());
  EXPECT_EQ(data.training->load(labels(), Samples{1})[0].item<std::int64_t>(), 0);
  EXPECT_NE(
      message_of<IoError>([&] { (void)data.training->load(image(), Samples{1}); }).find("ant/"),
      std::string::npos);
}

TEST_F(ImageFolderTest, NamesTheFirstBadFileOfABatch) {
  write_three_classes(folder.path(), 10);
  const auto bad = folder.path() / "ant/1000.png";
  write_file_atomically(bad, "no picture");
  write_file_atomically(folder.path() / "cat/1000.png", "");
  const Data data = open({.held_out = 0});
  Samples all(static_cast<std::size_t>(data.training->samples()));
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<std::int64_t>(i);
  EXPECT_EQ(message_of<BadFile>([&] { (void)data.training->load(image(), all); }),
            bad.string() +
                ": byte 0: wanted a PNG or a JPEG file, found other content; replace the file, or "
                "leave such files out with `skip_bad` from the beginning");
}

TEST_F(ImageFolderTest, LeavesOutBadFilesIfToldTo) {
  write_three_classes(folder.path(), 10);
  const auto bad = folder.path() / "bee/101.png";
  const std::string whole = read_file(bad);
  write_file_atomically(bad, whole.substr(0, whole.size() - 20));
  const Data data = open({.pictures = {.skip_bad = true}});
  EXPECT_EQ(data.training->samples() + data.held_out->samples(), 29);
  ASSERT_EQ(data.skipped.size(), 1U);
  EXPECT_TRUE(data.skipped[0].starts_with(bad.string() + ": byte ")) << data.skipped[0];
}

TEST_F(ImageFolderTest, IsNormalisedAsAskedFor) {
  write_three_classes(folder.path(), 4);
  const Data data = open({.pictures = {.pixel_mean = "0.5", .pixel_deviation = "0.25,0.5,1"}});
  const at::Tensor picture = data.training->load(image(), Samples{0})[0];
  EXPECT_NEAR(picture[1][0][0].item<float>(), (10.0 / 255 - 0.5) / 0.5, 1e-6);
  EXPECT_NEAR(picture[2][0][0].item<float>(), (10.0 / 255 - 0.5) / 1, 1e-6);
  EXPECT_EQ(data.facts.at("standard_deviation"), "0.25, 0.5, 1");
  for (const char* text : {"0.5,0.5", "x", "2", "0.5,,0.5"})
    EXPECT_NE(message_of<BadUsage>([&] {
                (void)open({.pictures = {.pixel_mean = text}});
              }).find("`pixel_mean`: wanted one number, or three"),
              std::string::npos)
        << text;
}

TEST_F(ImageFolderTest, IsNormalisedAsForTheWeightsUnlessAskedFor) {
  write_three_classes(folder.path(), 4);
  const auto before =
      open({.pictures = {.pixel_mean = "0.5", .pixel_deviation = "0.25,0.5,1"}}).facts;
  EXPECT_EQ(open({.earlier = before}).facts, before);
  const Data other = open({.pictures = {.pixel_mean = "0.1"}, .earlier = before});
  EXPECT_EQ(other.facts.at("mean"), "0.1, 0.1, 0.1");
  EXPECT_EQ(other.facts.at("standard_deviation"), before.at("standard_deviation"));
}

TEST_F(ImageFolderTest, RefusesWhatDoesNotFit) {
  write_three_classes(folder.path(), 4);
  network = small_network("vgg16", {{"image-size", "32"}, {"classes", "2"}});
  EXPECT_NE(message_of<CannotMeet>([&] { (void)open(); }).find("give it `classes` 3"),
            std::string::npos);
  network = small_network("mlp");
  EXPECT_NE(message_of<CannotMeet>([&] { (void)open(); }).find("images of 3 channels"),
            std::string::npos);
  network = small_network("vgg16", {{"image-size", "32"}, {"classes", "3"}});
  EXPECT_NE(message_of<CannotMeet>([&] {
              (void)open({.pictures = {.augment = "crop:32"}});
            }).find("choose less padding"),
            std::string::npos);
  const auto of_text = [&](const PictureOptions& pictures) {
    return message_of<BadUsage>(
        [&] { (void)open_data("synthetic", network, {.pictures = pictures}); });
  };
  EXPECT_NE(of_text({.augment = "flip"}).find("`augment` changes pictures"), std::string::npos);
  EXPECT_NE(of_text({.skip_bad = true}).find("`skip_bad` is for pictures in files"),
            std::string::npos);
}

// Rows of equal value; row r has the value 10 r.
image::Picture rows_of(std::int64_t rows, std::int64_t columns) {
  image::Picture picture{rows, columns};
  for (std::int64_t r = 0; r < rows; ++r)
    for (std::int64_t i = 0; i < 3 * columns; ++i)
      picture.pixels.push_back(static_cast<std::uint8_t>(10 * r));
  return picture;
}

TEST(ImageLoader, UsesTheMiddleOfAPictureThatIsTooLong) {
  std::vector<std::uint8_t> out(3 * 4 * 4);
  write_middle(rows_of(8, 4), 4, 4, out.data());
  for (std::size_t i = 0; i < out.size(); ++i) EXPECT_EQ(out[i], 20 + 10 * (i / 4 % 4)) << i;
}

TEST(ImageLoader, AveragesWhatItMakesSmaller) {
  std::vector<std::uint8_t> out(3);
  write_middle(rows_of(3, 3), 1, 1, out.data());
  EXPECT_EQ(out, (std::vector<std::uint8_t>{10, 10, 10}));
}

TEST(ImageLoader, ResizesALineOfPixelsWithoutFillingTheMemory) {
  std::vector<std::uint8_t> out(3 * 200 * 200);
  write_middle(image::Picture{1, 1'000'000, std::vector<std::uint8_t>(3'000'000, 7)}, 200, 200,
               out.data());
  EXPECT_EQ(out, std::vector<std::uint8_t>(out.size(), 7));
}

TEST(ImageLoader, ResizesOnlyTheWindow) {
  std::vector<std::uint8_t> out(3 * 2 * 2);
  write_resized(rows_of(8, 6), {.top = 5, .left = 1, .rows = 1, .columns = 3}, 2, 2, out.data());
  EXPECT_EQ(out, std::vector<std::uint8_t>(out.size(), 50));
}

}  // namespace
}  // namespace pipedream::data
