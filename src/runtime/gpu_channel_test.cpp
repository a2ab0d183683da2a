#include "runtime/gpu_channel.h"

#include <gtest/gtest.h>

#include "transport/in_process.h"
#include "transport/nccl.h"

namespace pipedream::runtime {
namespace {

at::Device gpu(int index) { return {at::kCUDA, static_cast<c10::DeviceIndex>(index)}; }

TEST(GpuChannel, NcclJoinsWorkersThatEachHaveAGpu) {
  const std::string possible = transport::has_nccl() ? "" : "this build has no NCCL";
  EXPECT_EQ(why_not_nccl({gpu(0), gpu(1), gpu(0), gpu(1)}, {0, 0, 2, 2}), possible);
  EXPECT_EQ(why_not_nccl({gpu(1), gpu(0)}, {0, 0, 0}), possible);
}

TEST(GpuChannel, TwoOnOneGpuAreKeptApart) {
  EXPECT_EQ(why_not_nccl({gpu(0), gpu(1), gpu(0)}, {0, 0, 0}),
            "workers 0 and 2 share cuda:0 of a machine");
}

TEST(GpuChannel, AWorkerOnTheCpuIsNamed) {
  EXPECT_EQ(why_not_nccl({gpu(0), at::kCPU}, {0, 0}), "worker 1 is on cpu");
}

TEST(GpuChannel, WithoutGpusOrWithSharedOnesTheChannelStaysAsItIs) {
  for (const std::vector<at::Device>& devices :
       {std::vector<at::Device>{}, {at::kCPU, at::kCPU}, {gpu(0), gpu(0)}}) {
    auto channel = std::move(transport::connect_in_process(2).front());
    const transport::Transport* const before = channel.get();
    EXPECT_EQ(between_gpus(std::move(channel), devices, {0, 0}).get(), before);
  }
}

}  // namespace
}  // namespace pipedream::runtime
