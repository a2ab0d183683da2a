#include "model/weights_file.h"

#include <filesystem>

#include <gtest/gtest.h>

#include <ATen/ops/arange.h>
#include <ATen/ops/zeros.h>

#include "core/error.h"
#include "core/file.h"

namespace pipedream::model {
namespace {

std::filesystem::path scratch(const std::string& name) {
  return std::filesystem::path(testing::TempDir()) / name;
}

TEST(WeightsFile, ReadsBackWhatItWrote) {
  const auto path = scratch("round_trip.safetensors");
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

TEST(WeightsFile, ATruncatedFileIsRefused) {
  const auto path = scratch("truncated.safetensors");
  write_weights(path, {{"a", at::arange(100, at::kFloat)}});
  const std::string content = read_file(path);
  write_file_atomically(path, content.substr(0, content.size() - 1));
  try {
    (void)read_weights(path);
    FAIL() << "no exception";
  } catch (const BadFile& error) {
    EXPECT_NE(std::string(error.what()).find(path.string()), std::string::npos);
  }
}

}  // namespace
}  // namespace pipedream::model
