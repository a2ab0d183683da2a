// Picture files of many kinds are read as torchvision's ImageFolder, Resize and CenterCrop read
// them.
#include <cstdlib>
#include <numeric>

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <ATen/ops/empty.h>

#include "core/testing.h"
#include "data/data_set.h"
#include "data/networks_testing.h"
#include "image/decode.h"
#include "model/weights_file.h"

namespace pipedream::data {
namespace {

constexpr int kNotInstalled = 77;
constexpr int kSide = 64;
// A byte more or less, after the division by the smallest deviation.
constexpr double kOneByte = 1.001 / 255 / 0.224;

TEST(ImagesReference, AreReadAsTorchvisionReadsThem) {
  if (!image::can_decode()) GTEST_SKIP() << "this build reads no pictures";
  const test::TemporaryFolder folder;
  const test::TemporaryFolder results;
  const auto file = results.path() / "images.safetensors";
  const std::string command =
      PD_PYTHON " '" PD_SOURCE_DIR "/tests/reference/images_reference.py' '" +
      folder.path().string() + "' " + std::to_string(kSide) + " '" + file.string() + "'";
  const int status = WEXITSTATUS(std::system(command.c_str()));
  if (status == kNotInstalled) GTEST_SKIP() << "torchvision is not installed for " << PD_PYTHON;
  ASSERT_EQ(status, 0) << command;
  const at::Tensor theirs = model::read_weights(file).at("images");
  const auto network = small_network("vgg16", {{"image-size", std::to_string(kSide)}});
  const Data data = open_data("images:" + folder.path().string(), network, {.held_out = 0});
  ASSERT_EQ(data.training->samples(), theirs.size(0));
  std::vector<std::int64_t> all(static_cast<std::size_t>(theirs.size(0)));
  std::iota(all.begin(), all.end(), 0);
  const at::Tensor ours = data.training->load(input_of(network, "image"), all);
  const at::Tensor apart = (ours - theirs).abs();
  EXPECT_LE(apart.max().item<double>(), kOneByte);
  EXPECT_LE(apart.mean().item<double>(), 0.05 * kOneByte);
  std::printf("apart: mean %g, most %g, of one byte\n", apart.mean().item<double>() / kOneByte,
              apart.max().item<double>() / kOneByte);
}

}  // namespace
}  // namespace pipedream::data
