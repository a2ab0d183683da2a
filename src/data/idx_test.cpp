#include "data/idx.h"

#include <gtest/gtest.h>

#include <ATen/ops/allclose.h>

#include "core/error.h"
#include "core/file.h"
#include "core/testing.h"
#include "data/idx_testing.h"
#include "data/networks_testing.h"

namespace pipedream::data {
namespace {

using test::message_of;
using test::TemporaryFolder;

using Samples = std::vector<std::int64_t>;

// Writes `count` images of 2 × 2 pixels, all pixels of image i being i, with labels i mod 3.
void write_set(const std::filesystem::path& folder, const std::string& set, std::int64_t count) {
  IdxArray images{{count, 2, 2}, {}};
  IdxArray labels{{count}, {}};
  for (std::int64_t i = 0; i < count; ++i) {
    images.bytes += std::string(4, static_cast<char>(i));
    labels.bytes += static_cast<char>(i % 3);
  }
  write_file_atomically(folder / (set + "-images-idx3-ubyte"), idx_file(images));
  write_file_atomically(folder / (set + "-labels-idx1-ubyte"), idx_file(labels));
}

model::Network four_inputs() { return small_network("mlp", {{"inputs", "4"}}); }

float normalised(float pixel) { return (pixel / 255 - 0.1307F) / 0.3081F; }

TEST(Idx, HoldsTheSecondSetOut) {
  const TemporaryFolder folder;
  write_set(folder.path(), "train", 10);
  write_set(folder.path(), "t10k", 3);
  const Data data = open_idx(folder.path(), four_inputs());
  EXPECT_EQ(data.training->samples(), 10);
  EXPECT_EQ(data.held_out->samples(), 3);
}

TEST(Idx, SplitsTheOnlySetFourToOne) {
  const TemporaryFolder folder;
  write_set(folder.path(), "t10k", 10);
  const auto network = four_inputs();
  const Data data = open_idx(folder.path(), network);
  EXPECT_EQ(data.training->samples(), 8);
  EXPECT_EQ(data.held_out->samples(), 2);
  const at::Tensor labels = data.held_out->load(input_of(network, "labels"), Samples{0, 1});
  EXPECT_EQ(labels[0].item<std::int64_t>(), 8 % 3);
  EXPECT_EQ(labels[1].item<std::int64_t>(), 9 % 3);
}

TEST(Idx, GivesFeaturesInTheOrderOfTheSamplesAskedFor) {
  const TemporaryFolder folder;
  write_set(folder.path(), "train", 10);
  const auto network = four_inputs();
  const Data data = open_idx(folder.path(), network);
  const at::Tensor values = data.training->load(input_of(network, "features"), Samples{5, 2});
  ASSERT_EQ(values.sizes(), (model::Shape{2, 4}));
  EXPECT_FLOAT_EQ(values[0][3].item<float>(), normalised(5));
  EXPECT_FLOAT_EQ(values[1][0].item<float>(), normalised(2));
}

TEST(Idx, ResizesImagesAndRepeatsThemOverThreeChannels) {
  const TemporaryFolder folder;
  write_set(folder.path(), "train", 10);
  const auto network = small_network("vgg16", {{"image-size", "32"}});
  const Data data = open_idx(folder.path(), network);
  const at::Tensor images = data.training->load(input_of(network, "image"), Samples{7});
  ASSERT_EQ(images.sizes(), (model::Shape{1, 3, 32, 32}));
  EXPECT_TRUE(at::allclose(images, at::full_like(images, normalised(7))));
}

TEST(Idx, SaysWhatToDoWhereTheNetworkDoesNotFit) {
  const TemporaryFolder folder;
  write_set(folder.path(), "train", 10);
  const auto refusal = [&](const model::Network& network) {
    return message_of<CannotMeet>([&] { (void)open_idx(folder.path(), network); });
  };
  EXPECT_NE(refusal(small_network("mlp")).find("2 x 2 pixels: give it `inputs` 4"),
            std::string::npos);
  EXPECT_NE(refusal(small_network("mlp", {{"inputs", "4"}, {"classes", "2"}}))
                .find("go up to 2: give it `classes` 3"),
            std::string::npos);
  EXPECT_NE(refusal(small_network("gpt")).find("images with labels are for classifiers"),
            std::string::npos);
}

TEST(Idx, NamesTheFileThatIsMissingOrBad) {
  const TemporaryFolder folder;
  const auto network = four_inputs();
  EXPECT_NE(message_of<IoError>([&] {
              (void)open_idx(folder.path(), network);
            }).find("neither a train-images-idx3-ubyte[.gz] nor a t10k-"),
            std::string::npos);

  write_set(folder.path(), "train", 10);
  const auto labels = folder.path() / "train-labels-idx1-ubyte";
  write_file_atomically(labels, idx_file({{3}, "\1\1\1"}));
  EXPECT_EQ(message_of<BadFile>([&] { (void)open_idx(folder.path(), network); }),
            labels.string() + ": byte 4: 3 labels for the 10 images of train-images-idx3-ubyte");
  write_file_atomically(labels, idx_file({{5, 2}, "0123456789"}));
  EXPECT_EQ(message_of<BadFile>([&] { (void)open_idx(folder.path(), network); }),
            labels.string() + ": byte 3: wanted 1 dimensions, found 2");
  std::filesystem::remove(labels);
  EXPECT_NE(message_of<IoError>([&] {
              (void)open_idx(folder.path(), network);
            }).find("but no train-labels-idx1-ubyte[.gz]"),
            std::string::npos);
}

TEST(Idx, ReadsMnistAsItIsDistributed) {
  const auto folder = test::shared_data() / "mnist";
  if (!std::filesystem::is_directory(folder)) {
    std::printf("skipped: there is no folder %s\n", folder.c_str());
    GTEST_SKIP();
  }
  const auto network = small_network("mlp", {{"inputs", "784"}, {"classes", "10"}});
  const Data data = open_idx(folder, network);
  EXPECT_EQ(data.training->samples(), 8000);
  EXPECT_EQ(data.held_out->samples(), 2000);
  const at::Tensor labels = data.training->load(input_of(network, "labels"), Samples{0, 1, 2});
  EXPECT_TRUE(at::equal(labels, at::tensor({7, 2, 1}, at::kLong)));
  Samples all(8000);
  std::iota(all.begin(), all.end(), 0);
  const at::Tensor pixels = data.training->load(input_of(network, "features"), all);
  EXPECT_NEAR(pixels.mean().item<double>(), 0, 0.05);
  EXPECT_NEAR(pixels.std().item<double>(), 1, 0.05);
}

}  // namespace
}  // namespace pipedream::data
