#include "runtime/pace.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <thread>

#include <gtest/gtest.h>

#include "core/error.h"
#include "runtime/run.h"

namespace pipedream::runtime {
namespace {

using namespace std::chrono_literals;

constexpr int kSegments = 20;

// Each worker in turn is the slow one.
TEST(Pace, AtMostTwoSegmentsAreUnderWay) {
  for (int slow = 0; slow < 3; ++slow) {
    std::array<std::atomic<int>, 3> ended{};
    std::array<int, 3> furthest{};  // by worker: the most segments that it was ahead of another
    run_on_threads(3, {}, [&](const Seat& seat) {
      Pace pace(seat.channels.control, 20s);
      for (int i = 0; i < kSegments; ++i) {
        if (i > 0) pace.next();
        int& most = furthest[seat.me.index()];
        for (const auto& other : ended) most = std::max(most, i - other);
        if (seat.me == WorkerId{slow}) std::this_thread::sleep_for(1ms);
        ++ended[seat.me.index()];
      }
      pace.finish();
    });
    EXPECT_EQ(*std::ranges::max_element(furthest), 1)
        << "segments that one had begun and another not, slow " << slow;
  }
}

TEST(Pace, LeavesNothingBehindForTheNext) {
  run_on_threads(3, {}, [&](const Seat& seat) {
    for (int segments = 1; segments < 5; ++segments) {
      Pace pace(seat.channels.control, 20s);
      for (int i = 1; i < segments; ++i) pace.next();
      pace.finish();
    }
    // Tag 5 is kPace: if a message had been left unread, it would be received here first.
    const WorkerId next{(seat.me.value + 1) % 3};
    const WorkerId before{(seat.me.value + 2) % 3};
    transport::Transport& control = seat.channels.control;
    control.send(next, 5, {{seat.me.value}, {}, {}});
    const auto deadline = std::chrono::steady_clock::now() + 20s;
    EXPECT_EQ(control.wait(control.receive(before, 5), deadline).header.at(0), before.value);
  });
}

TEST(Pace, AWorkerThatDoesNotComeIsLost) {
  EXPECT_THROW(run_on_threads(2, {},
                              [&](const Seat& seat) {
                                if (seat.me == WorkerId{1}) return;
                                Pace pace(seat.channels.control, 50ms);
                                pace.next();
                                pace.next();
                              }),
               WorkerLost);
}

}  // namespace
}  // namespace pipedream::runtime
