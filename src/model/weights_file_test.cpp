#include "model/weights_file.h"

#include <gtest/gtest.h>

#include <ATen/ops/arange.h>
#include <ATen/ops/zeros.h>

#include "core/error.h"
#include "core/file.h"
#include "core/testing.h"

namespace pipedream::model {
namespace {

TEST(WeightsFile, ReadsBackWhatItWrote) {
  const test::TemporaryFolder folder;
  const auto path = folder.path() / "round_trip.safetensors";
  const NamedTensors tensors{{"a.weight", at::arange(12, at::kFloat).view({3, 4}).t()},
                             {"b", at::arange(5, at::kLong)},
                             {"empty", at::zeros({0, 3})},
                             {"scalar", at::zeros({})}};
  write_weights(path, tensors);
  const NamedTensors read = read_weights(path);
  ASSERT_EQ(read.size(), tensors.size());
  for (const auto& [name, tensor] : tensors) {
    EXPECT_EQ(read.at(name).scalar_type(), tensor.scalar_type()) << name;
    EXPECT_TRUE(at::equal(read.at(name), tensor)) << name;
  }
}

TEST(WeightsFile, ATypeThatFilesDoNotHaveIsRefused) {
  const test::TemporaryFolder folder;
  const auto path = folder.path() / "complex.safetensors";
  const std::string message = test::message_of<BadUsage>([&] {
    write_weights(path, {{"phase", at::zeros({2}, at::kComplexFloat)}});
  });
  EXPECT_NE(message.find("the tensor 'phase' has the type ComplexFloat"), std::string::npos)
      << message;
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(WeightsFile, ATruncatedFileIsRefused) {
  const test::TemporaryFolder folder;
  const auto path = folder.path() / "truncated.safetensors";
  write_weights(path, {{"a", at::arange(100, at::kFloat)}});
  const std::string content = read_file(path);
  write_file_atomically(path, content.substr(0, content.size() - 1));
  const std::string message = test::message_of<BadFile>([&] { (void)read_weights(path); });
  EXPECT_EQ(message,
            path.string() + ": is cut off: its tensors take 400 bytes, and 399 of them are there");
}

}  // namespace
}  // namespace pipedream::model
