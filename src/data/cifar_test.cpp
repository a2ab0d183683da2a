#include "data/cifar.h"

#include <gtest/gtest.h>

#include "core/error.h"
#include "core/file.h"
#include "core/testing.h"
#include "data/networks_testing.h"

namespace pipedream::data {
namespace {

using test::message_of;
using test::TemporaryFolder;

// An image: its labels, then all pixels of red, green and blue.
std::string record(const std::string& labels, char red, char green, char blue) {
  return labels + std::string(1024, red) + std::string(1024, green) + std::string(1024, blue);
}

model::Network of_three_channels(const char* classes = "10") {
  return small_network("vgg16", {{"image-size", "32"}, {"classes", classes}});
}

TEST(Cifar, TenHasSeveralFilesToTrainOn) {
  const TemporaryFolder folder;
  write_file_atomically(folder.path() / "data_batch_1.bin", record("\3", 0, 51, 102));
  write_file_atomically(folder.path() / "data_batch_3.bin",
                        record("\4", 1, 2, 3) + record("\5", 4, 5, 6));
  write_file_atomically(folder.path() / "test_batch.bin", record("\7", 9, 9, 9));
  const auto network = of_three_channels();
  const Data data = open_cifar(folder.path(), network);
  EXPECT_EQ(data.training->samples(), 3);
  EXPECT_EQ(data.held_out->samples(), 1);
  const std::vector<std::int64_t> order{2, 0};
  const at::Tensor labels = data.training->load(input_of(network, "labels"), order);
  EXPECT_EQ(labels[0].item<std::int64_t>(), 5);
  EXPECT_EQ(labels[1].item<std::int64_t>(), 3);
  const at::Tensor images = data.training->load(input_of(network, "image"), order);
  ASSERT_EQ(images.sizes(), (model::Shape{2, 3, 32, 32}));
  EXPECT_FLOAT_EQ(images[1][0][0][0].item<float>(), (0.0F - 0.4914F) / 0.2470F);
  EXPECT_FLOAT_EQ(images[1][1][31][31].item<float>(), (0.2F - 0.4822F) / 0.2435F);
  EXPECT_FLOAT_EQ(images[1][2][5][6].item<float>(), (0.4F - 0.4465F) / 0.2616F);
  EXPECT_EQ(data.facts.at("mean"), "0.4914, 0.4822, 0.4465");
}

TEST(Cifar, IsChangedAtRandomWhileItIsTrainedOnAndNeverForAnEvaluation) {
  const TemporaryFolder folder;
  std::string images;
  for (int i = 0; i < 12; ++i) images += record("\1", static_cast<char>(10 * i), 90, 100);
  std::string picture = record("\1", 0, 0, 0);
  picture[1] = 100;  // the red of the first pixel
  write_file_atomically(folder.path() / "data_batch_1.bin", picture + images);
  write_file_atomically(folder.path() / "test_batch.bin", images);
  const auto network = of_three_channels();
  const auto& image = input_of(network, "image");
  const auto open = [&](const std::string& augment) {
    return open_cifar(folder.path(), network, std::nullopt, {parse_augmentation(augment), 1});
  };
  const Data plain = open("");
  const std::vector<std::int64_t> all{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
  const std::vector<std::int64_t> first{0};
  for (const char* augment : {"flip", "crop:4", "flip,resized-crop"}) {
    const Data data = open(augment);
    EXPECT_TRUE(data.training->load(image, all).equal(plain.training->load(image, all)));
    EXPECT_TRUE(
        data.held_out->load_for_epoch(1, image, all).equal(plain.held_out->load(image, all)));
    const at::Tensor whole = data.training->load_for_epoch(1, image, all);
    EXPECT_EQ(whole.sizes(), (model::Shape{12, 3, 32, 32}));
    for (const std::int64_t sample : all)
      EXPECT_TRUE(
          data.training->load_for_epoch(1, image, std::vector{sample})[0].equal(whole[sample]))
          << augment << " " << sample;
  }
  int mirrored = 0;
  for (std::int64_t epoch = 0; epoch < 20; ++epoch) {
    const at::Tensor found = open("flip").training->load_for_epoch(epoch, image, first)[0][0][0];
    mirrored += found[31].item<float>() > found[0].item<float>() ? 1 : 0;
  }
  EXPECT_GT(mirrored, 3);
  EXPECT_LT(mirrored, 17);
  EXPECT_NE(message_of<CannotMeet>([&] { (void)open("crop:32"); }).find("32 x 32 pixels"),
            std::string::npos);
}

TEST(Cifar, HundredHasFineLabels) {
  const TemporaryFolder folder;
  std::string images;
  for (int i = 0; i < 20; ++i) images += record({'\1', static_cast<char>(80 + i)}, 0, 0, 0);
  write_file_atomically(folder.path() / "train.bin", images);
  const auto network = of_three_channels("100");
  const Data data = open_cifar(folder.path(), network);
  EXPECT_EQ(data.training->samples(), 18);
  EXPECT_EQ(data.held_out->samples(), 2) << "the last tenth, if there is no test.bin";
  const std::vector<std::int64_t> last{1};
  EXPECT_EQ(data.held_out->load(input_of(network, "labels"), last)[0].item<std::int64_t>(), 99);
}

TEST(Cifar, NamesTheFileAndThePlaceThatAreBad) {
  const TemporaryFolder folder;
  const auto open = [&](const char* classes = "10") {
    (void)open_cifar(folder.path(), of_three_channels(classes));
  };
  EXPECT_NE(message_of<IoError>(open).find("neither a data_batch_1.bin"), std::string::npos);
  const auto file = folder.path() / "data_batch_1.bin";
  write_file_atomically(file, record("\3", 0, 0, 0) + "cut");
  EXPECT_EQ(
      message_of<BadFile>(open),
      file.string() + ": byte 3073: wanted whole images of 3073 bytes, found 3076 bytes in all");
  write_file_atomically(file, record("\3", 0, 0, 0) + record("\12", 0, 0, 0));
  EXPECT_EQ(message_of<BadFile>(open),
            file.string() + ": byte 3073: wanted a label below 10, found 10");
  write_file_atomically(file, record("\3", 0, 0, 0) + record("\11", 0, 0, 0));
  write_file_atomically(folder.path() / "test_batch.bin", record(std::string(1, 0), 0, 0, 0));
  EXPECT_NE(message_of<CannotMeet>([&] { open("4"); }).find("go up to 9: give it `classes` 10"),
            std::string::npos);
  EXPECT_NE(message_of<CannotMeet>([&] {
              (void)open_cifar(folder.path(), small_network("mlp", {{"inputs", "1024"}}));
            }).find("32 x 32 pixels of 3 channels: give it `inputs` 3072"),
            std::string::npos);
  EXPECT_THROW((void)open_cifar(folder.path(), of_three_channels(), 0.5), BadUsage);
}

}  // namespace
}  // namespace pipedream::data
