#include "runtime/run.h"

#include <stdexcept>

#include <gtest/gtest.h>

#include "core/error.h"
#include "core/testing.h"

namespace pipedream::runtime {
namespace {

using namespace std::chrono_literals;

TEST(RunOnThreads, TheFirstFailureWinsAndWakesTheOthersOnEveryChannel) {
  const auto body = [](const Seat& seat) {
    if (seat.me == WorkerId{5}) throw std::runtime_error("worker 5 failed");
    transport::Transport* const channels[] = {&seat.channels.values, &seat.channels.collectives,
                                              &seat.channels.served, &seat.channels.control,
                                              &seat.channels.news};
    transport::Transport& channel = *channels[seat.me.index()];
    (void)channel.wait(channel.receive({5}, 0), std::chrono::steady_clock::now() + 20s);
  };
  EXPECT_EQ(test::message_of<std::runtime_error>([&] { run_on_threads(6, {}, body); }),
            "worker 5 failed");
}

TEST(RunOnThreads, EveryWorkerHasItsSeat) {
  std::array<int, 3> seen{};
  run_on_threads(
      3, {}, [&](const Seat& seat) { seen[seat.me.index()] = seat.channels.control.workers(); });
  EXPECT_EQ(seen, (std::array{3, 3, 3}));
}

}  // namespace
}  // namespace pipedream::runtime
