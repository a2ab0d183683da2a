#include "runtime/gpu_channel.h"

#include <array>
#include <thread>

#include <gtest/gtest.h>

#include "transport/in_process.h"

namespace pipedream::runtime {
namespace {

NcclOffer gpu(int host, int index, bool has_nccl = true) {
  return {{at::kCUDA, static_cast<c10::DeviceIndex>(index)}, host, has_nccl};
}

TEST(GpuChannel, NcclJoinsWorkersThatEachHaveAGpu) {
  EXPECT_EQ(why_not_nccl({gpu(0, 0), gpu(0, 1), gpu(2, 0), gpu(2, 1)}), "");
}

TEST(GpuChannel, TwoOnOneGpuAreKeptApart) {
  EXPECT_EQ(why_not_nccl({gpu(0, 0), gpu(0, 1), gpu(0, 0)}),
            "workers 0 and 2 share cuda:0 of a machine");
}

TEST(GpuChannel, AWorkerThatCannotTakePartIsNamed) {
  EXPECT_EQ(why_not_nccl({gpu(0, 0), {at::kCPU, 0, true}}), "worker 1 is on cpu");
  EXPECT_EQ(why_not_nccl({gpu(0, 0), gpu(0, 1, false)}), "worker 1 has a build without NCCL");
}

// The answers that three workers with these offers get from agree_on_nccl().
std::array<bool, 3> agreed(const std::vector<NcclOffer>& offers) {
  const auto ends = transport::connect_in_process(3);
  std::array<bool, 3> told{};
  {
    std::vector<std::jthread> threads;
    for (std::size_t w = 0; w < told.size(); ++w)
      threads.emplace_back([&, w] { told[w] = agree_on_nccl(*ends[w], offers[w]); });
  }
  return told;
}

TEST(GpuChannel, AllWorkersAreToldTheSame) {
  EXPECT_EQ(agreed({gpu(0, 0), gpu(0, 1), gpu(1, 0)}), (std::array{true, true, true}));
  EXPECT_EQ(agreed({gpu(0, 0), gpu(0, 1), gpu(1, 0, false)}), (std::array{false, false, false}));
}

}  // namespace
}  // namespace pipedream::runtime
