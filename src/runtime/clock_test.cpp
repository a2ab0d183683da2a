#include "runtime/clock.h"

#include <thread>

#include <gtest/gtest.h>

#include "transport/in_process.h"

namespace pipedream::runtime {
namespace {

using namespace std::chrono_literals;

// Both workers are in one process and have one steady clock, so the agreed clocks must begin at the
// same time. They may differ by half of the quickest round trip; the bound leaves room for a busy
// machine.
TEST(AgreedClock, BeganWhenWorkerZerosDid) {
  const auto ends = transport::connect_in_process(2);
  Clock late;
  std::thread other([&] {
    std::this_thread::sleep_for(200ms);
    late = agreed_clock(*ends[1]);
  });
  const Clock first = agreed_clock(*ends[0]);
  other.join();
  EXPECT_LT(std::chrono::abs(late.began - first.began), 50ms);
}

}  // namespace
}  // namespace pipedream::runtime
