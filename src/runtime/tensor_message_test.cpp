#include "runtime/tensor_message.h"

#include <gtest/gtest.h>

#include <ATen/ops/arange.h>

namespace pipedream::runtime {
namespace {

TEST(TensorMessage, CarriesTypeShapeAndMemoryWithoutACopy) {
  const at::Tensor sent = at::arange(6, at::kLong).view({2, 3});
  const at::Tensor received = to_tensor(to_message(sent));
  EXPECT_TRUE(at::equal(sent, received));
  EXPECT_EQ(received.scalar_type(), at::kLong);
  EXPECT_EQ(received.const_data_ptr(), sent.const_data_ptr());
}

TEST(TensorMessage, ImagesStayChannelsLastWhereTheyAre) {
  const at::Tensor sent =
      at::arange(120, at::kFloat).view({2, 3, 4, 5}).contiguous(at::MemoryFormat::ChannelsLast);
  const at::Tensor received = to_tensor(to_message(sent));
  EXPECT_TRUE(at::equal(sent, received));
  EXPECT_EQ(received.strides(), sent.strides());
  EXPECT_EQ(received.const_data_ptr(), sent.const_data_ptr());
}

TEST(TensorMessage, KeepsTheMemoryAliveAndStraightensStrides) {
  at::Tensor received;
  {
    const at::Tensor sent = at::arange(6, at::kFloat).view({2, 3}).t();
    received = to_tensor(to_message(sent));
  }
  EXPECT_TRUE(at::equal(received, at::arange(6, at::kFloat).view({2, 3}).t()));
}

}  // namespace
}  // namespace pipedream::runtime
