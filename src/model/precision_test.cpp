#include "model/precision.h"

#include <gtest/gtest.h>

#include <ATen/ops/mm.h>
#include <ATen/ops/ones.h>

#include "core/error.h"
#include "model/device.h"

namespace pipedream::model {
namespace {

TEST(Precision, HasNames) {
  for (const Precision precision : {Precision::kFloat, Precision::kBfloat16})
    EXPECT_EQ(precision_named(to_text(precision)), precision);
  EXPECT_THROW((void)precision_named("fp8"), BadUsage);
}

TEST(Precision, ProductsAreBfloat16AsLongAsItIsAskedFor) {
  const at::Tensor x = at::ones({2, 2});
  const auto product = [&] { return at::mm(x, x).scalar_type(); };
  {
    const ComputeIn plain(Precision::kFloat, at::kCPU);
    EXPECT_EQ(product(), at::kFloat);
    const ComputeIn coarse(Precision::kBfloat16, at::kCPU);
    EXPECT_EQ(product(), at::kBFloat16);
  }
  EXPECT_EQ(product(), at::kFloat);
}

TEST(Precision, LaysOutWhatHasFourDimensionsAlone) {
  const at::Tensor image = at::ones({2, 3, 4, 5});
  EXPECT_TRUE(laid_out(image, Precision::kFloat).is_same(image));
  EXPECT_TRUE(laid_out(image, Precision::kBfloat16).is_contiguous(at::MemoryFormat::ChannelsLast));
  const at::Tensor matrix = at::ones({2, 3});
  EXPECT_TRUE(laid_out(matrix, Precision::kBfloat16).is_same(matrix));
}

TEST(Devices, AreNamed) {
  EXPECT_TRUE(device_named("cpu").is_cpu());
  EXPECT_EQ(device_named("cuda:3"), at::Device(at::kCUDA, 3));
  EXPECT_FALSE(device_named("cuda").has_index());
  for (const char* wrong : {"", "gpu", "cuda:x", "meta"})
    EXPECT_THROW((void)device_named(wrong), BadUsage) << wrong;
}

TEST(Devices, WorkersOfTheCpuHaveNoOther) {
  EXPECT_TRUE(device_of_worker(at::kCPU, 3).is_cpu());
  EXPECT_FALSE(memory_of_worker(at::kCPU, 2).has_value());
  EXPECT_FALSE(new_stream(at::kCPU).has_value());
  EXPECT_THROW(require_device({at::kCUDA, 99}), CannotMeet);
}

}  // namespace
}  // namespace pipedream::model
