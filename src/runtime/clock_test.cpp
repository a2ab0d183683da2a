#include "runtime/clock.h"

#include <thread>

#include <gtest/gtest.h>

#include "transport/in_process.h"

namespace pipedream::runtime {
namespace {

using namespace std::chrono_literals;

// Both are in one process, so both clocks must have begun when worker 0's did: they may differ by
// half of the quickest round trip, and not by what the one began later.
TEST(AgreedClock, BeganWhenWorkerZerosDid) {
  constexpr auto kLater = 200ms;
  const auto ends = transport::connect_in_process(2);
  Clock late;
  std::thread other([&] {
    std::this_thread::sleep_for(kLater);
    late = agreed_clock(*ends[1]);
  });
  const Clock first = agreed_clock(*ends[0]);
  other.join();
  EXPECT_LT(std::chrono::abs(late.began - first.began), kLater);
}

}  // namespace
}  // namespace pipedream::runtime
