// NCCL as far as one GPU allows: messages to oneself, sums over one member, and how it ends if the
// other end never connects. Runs where this build has NCCL and libtorch finds a GPU; elsewhere each
// test is skipped with a message.
#include <chrono>

#include <gtest/gtest.h>

#include <ATen/Context.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>
#include <ATen/ops/randn.h>

#include "core/testing.h"
#include "runtime/tensor_message.h"
#include "transport/by_lanes.h"
#include "transport/in_process.h"
#include "transport/lane_sums.h"
#include "transport/nccl.h"

namespace pipedream::test {
namespace {

using runtime::to_message;
using runtime::to_tensor;
using transport::Transport;

const at::Device kOneGpu(at::kCUDA, 0);
constexpr WorkerId kMe{0}, kOther{1};

transport::Deadline in_a_minute() {
  return std::chrono::steady_clock::now() + std::chrono::minutes(1);
}

std::unique_ptr<transport::Lanes> lanes() {
  return transport::make_nccl_lanes(
      {.device = 0, .allocate = runtime::memory_to_receive_into(kOneGpu)});
}

std::unique_ptr<Transport> by_nccl(std::unique_ptr<Transport> companion) {
  return transport::connect_by_lanes(std::move(companion), lanes());
}

std::unique_ptr<Transport> alone_by_nccl() {
  return by_nccl(std::move(transport::connect_in_process(1).front()));
}

at::Tensor next_tensor(Transport& channel, int tag) {
  return to_tensor(channel.wait(channel.receive(kMe, tag), in_a_minute()));
}

class Nccl : public testing::Test {
 protected:
  void SetUp() override {
    if (!transport::has_nccl()) GTEST_SKIP() << "this build has no NCCL: left out";
    if (!at::globalContext().hasCUDA()) GTEST_SKIP() << "no GPU found by libtorch: left out";
  }
};

TEST_F(Nccl, TensorsToOneselfArriveAsTheyWereInOtherMemory) {
  const auto channel = alone_by_nccl();
  const at::Tensor image = at::randn({4, 3, 5, 5}, kOneGpu);
  for (const at::Tensor& sent :
       {image, image.contiguous(at::MemoryFormat::ChannelsLast), image.transpose(0, 2),
        image[0][0][0][0], at::arange(7, kOneGpu), at::randn({16 << 20}, kOneGpu)}) {
    channel->send(kMe, 0, to_message(sent));
    const at::Tensor received = next_tensor(*channel, 0);
    EXPECT_EQ(received.device(), sent.device());
    EXPECT_EQ(received.scalar_type(), sent.scalar_type());
    EXPECT_NE(received.const_data_ptr(), sent.const_data_ptr());
    EXPECT_TRUE(at::equal(received, sent));
  }
}

TEST_F(Nccl, ATensorMayBeEmpty) {
  const auto channel = alone_by_nccl();
  channel->send(kMe, 0, to_message(at::empty({0, 3}, kOneGpu)));
  EXPECT_EQ(next_tensor(*channel, 0).sizes(), (std::vector<std::int64_t>{0, 3}));
}

TEST_F(Nccl, ManyTensorsOfDeviceAndHostKeepTheirOrder) {
  constexpr std::int64_t kTensors = 500;
  const auto channel = alone_by_nccl();
  for (std::int64_t i = 0; i < kTensors; ++i) {
    const at::Tensor next = at::full({1 + i * 37 % 1000}, i, at::TensorOptions(kOneGpu));
    channel->send(kMe, static_cast<int>(i % 3), to_message(i % 5 == 4 ? next.cpu() : next));
  }
  for (std::int64_t i = 0; i < kTensors; ++i) {
    const at::Tensor received = next_tensor(*channel, static_cast<int>(i % 3));
    EXPECT_EQ(received.is_cpu(), i % 5 == 4);
    EXPECT_EQ(received.numel(), 1 + i * 37 % 1000);
    EXPECT_TRUE((received == i).all().item<bool>()) << i;
  }
}

// Values are sent while the GPU still computes them, memory is reused quickly, and received values
// are used by work that is only queued.
TEST_F(Nccl, WhatTheDeviceIsAtWorkOnIsWaitedForAndMemoryIsNotUsedTwice) {
  const auto channel = alone_by_nccl();
  at::Tensor ours = at::randn({1024, 1024}, kOneGpu) / 32;
  at::Tensor passed = ours.clone();
  const at::Tensor factor = at::randn({1024, 1024}, kOneGpu) / 32;
  for (int round = 0; round < 200; ++round) {
    channel->send(kMe, 0, to_message(passed.matmul(factor)));
    ours = ours.matmul(factor);
    passed = next_tensor(*channel, 0) + 0.01;
    ours = ours + 0.01;
  }
  EXPECT_TRUE(at::equal(passed, ours));
}

TEST_F(Nccl, AnAbortEndsALaneWhoseOtherEndNeverComes) {
  auto ends = transport::connect_in_process(2);
  const auto mine = by_nccl(std::move(ends[0]));
  mine->send(kOther, 0, to_message(at::randn({1000}, kOneGpu)));
  // Receives the announcement of the message, so the lane is being opened now.
  (void)ends[1]->wait(ends[1]->receive(kMe, 0), in_a_minute());
  mine->abort("enough");
  EXPECT_EQ(message_of<transport::Aborted>(
                [&] { (void)mine->wait(mine->receive(kOther, 0), in_a_minute()); }),
            "enough");
}

TEST_F(Nccl, TwoWorkersOnOneGpuAreRefusedWithNcclsWords) {
  auto ends = transport::connect_in_process(2);
  for (auto& end : ends) end = by_nccl(std::move(end));
  ends[0]->send(kOther, 0, to_message(at::randn({1000}, kOneGpu)));
  const std::string told = message_of<transport::Aborted>(
      [&] { (void)ends[1]->wait(ends[1]->receive(kMe, 0), in_a_minute()); });
  EXPECT_NE(told.find("NCCL failed: "), std::string::npos) << told;
}

TEST_F(Nccl, ASumOverOneMemberIsWhatItWas) {
  const auto channel = std::move(transport::connect_in_process(1).front());
  transport::Reducer reducer(*channel, transport::sum_by_lanes(*channel, lanes()));
  for (const std::int64_t size : {1, 1000, 10'000'000}) {
    const auto values = std::make_shared<at::Tensor>(at::randn({size}, kOneGpu));
    const at::Tensor before = values->clone();
    const auto made = std::make_shared<const model::Mark>(kOneGpu);
    const transport::Ticket ticket =
        reducer.start({kMe}, 0, {values->mutable_data_ptr<float>(), static_cast<std::size_t>(size)},
                      values, [made] { return made->has_come(); });
    reducer.wait(ticket, in_a_minute());
    EXPECT_TRUE(at::equal(*values, before));
  }
}

}  // namespace
}  // namespace pipedream::test
