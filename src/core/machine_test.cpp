#include "core/machine.h"

#include <thread>

#include <gtest/gtest.h>

namespace pipedream {
namespace {

TEST(ProcessorTime, GoesOnWhileTheThreadWorks) {
  const Nanos begin = processor_time();
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (processor_time() == begin && std::chrono::steady_clock::now() < deadline) continue;
  EXPECT_GT(processor_time(), begin);
}

TEST(ProcessorTime, StandsStillWhileTheThreadWaits) {
  constexpr std::chrono::milliseconds kSleep(200);
  const Nanos begin = processor_time();
  std::this_thread::sleep_for(kSleep);
  EXPECT_LT(processor_time() - begin, kSleep / 2);
}

}  // namespace
}  // namespace pipedream
