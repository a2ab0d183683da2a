// The tests of nccl.h that need no GPU. Those that need one are in tests/nccl_gpu_test.cpp.
#include "transport/nccl.h"

#include "transport/by_lanes.h"
#include "transport/contract_testing.h"
#include "transport/in_process.h"

namespace pipedream::transport {
namespace {

TEST(Nccl, ABuildWithoutItSaysSo) {
  if (has_nccl()) GTEST_SKIP() << "this build has NCCL";
  const std::string told = message_of<CannotMeet>([] { (void)make_nccl_lanes({}); });
  EXPECT_NE(told.find("this build has no NCCL"), std::string::npos) << told;
}

TEST(Nccl, MessagesOfTheHostNeedNoGpu) {
  if (!has_nccl()) GTEST_SKIP() << "this build has no NCCL";
  Endpoints ends = connect_in_process(2);
  for (auto& end : ends) end = connect_by_lanes(std::move(end), make_nccl_lanes({}));
  ends[0]->send(kB, 0, make_message({1}, "the host's"));
  EXPECT_EQ(next_text(*ends[1], kA, 0), "the host's");
}

TEST(Nccl, AGpuThatIsNotThereFailsWithCudasWords) {
  if (!has_nccl()) GTEST_SKIP() << "this build has no NCCL";
  const NcclOptions options{.device = 1'000'000, .allocate = {}};
  const auto end =
      connect_by_lanes(std::move(connect_in_process(1).front()), make_nccl_lanes(options));
  Message message = make_message({}, "of no GPU");
  message.on_device = true;
  end->send(kA, 0, std::move(message));
  const std::string told = message_of<Aborted>([&] { (void)next_text(*end, kA, 0); });
  EXPECT_NE(told.find("failed"), std::string::npos) << told;
}

}  // namespace
}  // namespace pipedream::transport
